/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format of traces: what lies in the file, byte for byte (doc/trace-format.md explains it, and
 * tools/orrery_tracefile.py reads it).
 *
 * A file is a sequence of blocks of ORR_TRACE_BLOCK bytes. Block 0 is the head of the file; each
 * other one has a head of its own and is filled by one thread of one process with events. All
 * numbers are in the byte order of the machine.
 *
 * Invariant: structures have no padding and only grow at the end, with another ORR_TRACE_VERSION.
 * Bytes that nobody has written are 0. */
#ifndef ORR_TRACE_FORMAT_H
#define ORR_TRACE_FORMAT_H

#include <stdint.h>

#define ORR_TRACE_MAGIC "ORRTRACE"
#define ORR_TRACE_VERSION 4
#define ORR_TRACE_BLOCK 4096
#define ORR_TRACE_SMALL_BLOCK 1024        /* in a file with a limit */
#define ORR_TRACE_BLOCK_MAGIC 0x4b4c424fU /* "OBLK" */

/* orr_trace_head.flags */
#define ORR_TRACE_SIMULATED 1
#define ORR_TRACE_FULL 2     /* there was no room for more: events are missing */
#define ORR_TRACE_CLOSED 4   /* all processes left: the index is there */
#define ORR_TRACE_LIMITED 8  /* with a limit: blocks of ORR_TRACE_SMALL_BLOCK, and sums */
#define ORR_TRACE_THINNED 16 /* single events are missing outside of the windows */
#define ORR_TRACE_PARTIAL 32 /* not everything was recorded; the text says what: recorded_... */

/* The head of the file. Behind it stands its text: lines "name value". */
struct orr_trace_head {
	char magic[8];
	uint32_t version, block, event; /* sizes in bytes of blocks and events */
	uint32_t flags;                 /* atomic */
	uint32_t nprocesses, nopen; /* that ever wrote, and that write now; under the file's lock */
	uint64_t end;               /* atomic: bytes of all blocks, this one included */
	uint64_t nindex; /* CLOSED: entries of the index, which lies behind the last block */
	uint32_t text_bytes;
	uint32_t windows; /* atomic: of time, in which all events are there; 0: everywhere */
	char key[64];     /* the name of the run, which its processes share */
};

/* The head of a block. The index is an array of copies of them, one for each block but the first
 * (all 0: a block that nobody used). */
struct orr_trace_block {
	uint32_t magic, process, stream;
	uint32_t nevents; /* 0 while it is being filled: then count those whose kind is not 0 */
	int64_t first_ns, last_ns; /* by the clock of the process */
	uint64_t kinds;            /* bits: of the kinds of its events */
	uint32_t number;           /* of this block in its stream */
	uint32_t checksum;         /* in a closed file: CRC-32 of the block but for this field */
	uint32_t reserved[2];
	int64_t clock_ns; /* LIMITED: to add to the times of its events */
};

/* The end of the index, and of a closed file. */
#define ORR_TRACE_END_MAGIC "ORRINDEX"
struct orr_trace_end {
	char magic[8];
	uint32_t index; /* CRC-32 of the index */
	uint32_t head;  /* CRC-32 of the first ORR_TRACE_BLOCK bytes */
};

/* The windows of a head: the first 2^WINDOW nanoseconds of each 2^PERIOD, by the time of the run.
 * Above THINNING there is the number of processes that are rewriting blocks. */
#define ORR_TRACE_WINDOW_LOG2(windows) ((windows) &0xffU)
#define ORR_TRACE_PERIOD_LOG2(windows) ((windows) >> 8 & 0xffU)
#define ORR_TRACE_THINNING 0x10000U
#define ORR_TRACE_THINNING_MASK 0xffff0000U

/* `a` to `d` have the meaning that the kind says (enum orr_trace_kind). */
struct orr_trace_event {
	int64_t ns;
	uint8_t kind, flags;
	int16_t worker; /* -1: none */
	uint32_t a;
	uint64_t b, c, d;
};

/* Kinds of events, with their fields; fields that are not named are 0. Names in the text form:
 * tools/orrery_tracefile.py. The numbers are part of the format. */
enum orr_trace_kind {
	ORR_TRACE_NONE,
	/* About the process. */
	ORR_TRACE_STRING,  /* a number, b bytes; they follow in place of the next events */
	ORR_TRACE_PROCESS, /* a rank, b size, c string: the host's name */
	ORR_TRACE_CLOCK,   /* b nanoseconds (signed) to add to all times of the process */
	ORR_TRACE_WORKER,  /* worker, a string: name, b memory node */
	ORR_TRACE_LEFT,    /* b events recorded before this one, c events lost, d nanoseconds that
			      threads of the process could run and got no core; 0: not known */
	/* About tasks; b is the number of the task. */
	ORR_TRACE_SUBMIT,  /* flags AT_ONCE, a string: name, c priority, d cause: in what it was
			      submitted */
	ORR_TRACE_RELEASE, /* c cause: what it waits for no more */
	ORR_TRACE_READY,   /* c cause: the last of these; a worker may take it */
	ORR_TRACE_START,   /* worker, a string: name, c nanoseconds since the worker took it, 0
			      if its data were there, d in its low half string: its performance
			      model's name, in its high half the bits of a float: microseconds that
			      the policy expected the kernel to take; 0: it did not ask, or nobody
			      knew */
	ORR_TRACE_END,  /* flags AT_ONCE, worker, d 0: the policy expected nothing of copies; else
			   ORR_TRACE_EXPECTED and in its low half the bits of a float: the
			   microseconds that it expected the copies of the task's data to take */
	ORR_TRACE_DONE, /* worker, -1: executed by none; c cause: what its end waited for last, 0:
			   its own execution */
	/* About messages. `request` is the number of a send or receive in its process, in the low
	 * half of b; where b has a `message`, its number among those from `origin` to the process
	 * that receives it is in the high half. */
	ORR_TRACE_POST,  /* flags, a peer, b request, c tag, d cause */
	ORR_TRACE_GRANT, /* b request; its datum can be used; c cause; d: what it came after, where
			    that was over when it was posted */
	ORR_TRACE_ROUTE, /* a peer, b message and request: it goes along a tree */
	ORR_TRACE_SEND,  /* flags, a peer, b message and request (RELAYED: and origin), c tag, d
			    bytes: it leaves */
	ORR_TRACE_SENT,  /* b request: it is complete */
	ORR_TRACE_ENVELOPE, /* flags, a origin, b message and request (0: none has matched), c tag,
			       d bytes: it has arrived, its payload if EAGER too */
	ORR_TRACE_MATCH,    /* flags, a origin, b message and request: it goes to that receive */
	ORR_TRACE_RECV,     /* a the process that it came from, b request, c tag, d bytes: it can
			       be used */
	/* About copies between memory nodes: from a to b, c bytes, d enum orr_copy_why. */
	ORR_TRACE_COPY,
	ORR_TRACE_COPIED,
	ORR_TRACE_USER, /* worker, a string, b number: a mark of the program */
	/* The progression of messages, recorded when a turn is over, and dated back to its begin.
	 */
	ORR_TRACE_ENGINE, /* flags, a state, b nanoseconds, c how many things, d nanoseconds of b in
			     callbacks of the program */
	ORR_TRACE_SUM,    /* flags: enum orr_trace_sum, as of ns, which is the latest of its
			     events, with the fields that it says; it grows as the run goes on */
	ORR_TRACE_AFTER,  /* b task: it comes after c cause, which was over when it was submitted,
			     or which a tag without a task waited for */
	ORR_TRACE_WAITED, /* a string: the call in which a thread of the program waited until now, b
			     nanoseconds, c cause that let it go on; 0: see the time */
	ORR_TRACE_CHANGE, /* flags: enum orr_trace_change, with a, c and d as it says, b
			     nanoseconds until now */
	ORR_TRACE_MEMORY, /* a memory node, b bytes in use, c: of b, kept for reuse, d limit; 0:
			     none */
	ORR_TRACE_HELD,   /* flags: enum orr_trace_hold, from now on, or with GOES_ON until now: a
			     send   to `a`, b request; or a message from origin a, b message; b 0: all
			     sends   that are ready */
	ORR_TRACE_CALLBACK, /* flags: enum orr_trace_callback, worker, b task or request, until now
			       for c nanoseconds */
	ORR_TRACE_LINK,  /* of the simulated network, a string: its name, c nanoseconds of all its
			    bandwidth that it gave, d nanoseconds in which it gave all; flags SUM: up
			    to now, b bytes per second; else of the last b nanoseconds */
	ORR_TRACE_DATUM, /* of this process; worker: its home node, -1: none; a string: its name, 0:
			    it has none, b tag (signed), c bytes, d string: its coordinates, 0: it
			    has none; flags ENDS: it is unregistered; flags UNTAGGED: it has no tag,
			    b is its number in USES, 0: no task used it */
	ORR_TRACE_USES,  /* b task uses the data of c and d, in this order, which are the next ones
			    of  its buffers; flags SMALL: two in each, the first one in the low
			    half, see ORR_TRACE_SMALL_TAG; else one of ORR_TRACE_USE_... in each; 0:
			    no more */
	ORR_TRACE_NKINDS
};
/* Flag of SUBMIT: the task is READY at the same time, with d as its cause; of END: it is DONE, too,
 * with that worker and the cause 0; of POST: GRANT, too, with d as its cause and nothing that it
 * came after; of ENVELOPE: MATCH, too. There is no other event of that. */
#define ORR_TRACE_AT_ONCE 1
#define ORR_TRACE_TWICE 16 /* POST and ENVELOPE have it there */
/* Flag of the kinds below: numbers in 32 bits leave room for what the same thread recorded soon
 * afterwards. A half that is 0 says nothing, so each store makes it say one thing more.
 * SUBMIT: b number | a use of data << 32, c priority | a use << 32, d a short cause | a use << 32,
 *   uses as those of USES_SMALL, of a task that has up to three: in c, d and b.
 * START: b number | duration + 1 << 32: its END, of which d is 0; c as it is | delay + 1 << 32: it
 *   was DONE so long after the END, by that worker, with the cause 0; both in nanoseconds.
 * RELEASE and READY: b number | second << 32, d third | fourth << 32: the same happened to these
 *   tasks; flags ORR_TRACE_READY_TOO << i: that one is READY, else RELEASE.
 * GRANT: b request | second << 32, a third.
 * ROUTE: c and d are b and a of a second one.
 * SENT: c and d: peer << 32 | request of a second and a third one. */
#define ORR_TRACE_SHORT 64
#define ORR_TRACE_READY_TOO 1
/* A short cause: in the highest bit, the request of a message; in the others the number. */
#define ORR_TRACE_SHORT_MESSAGE 0x80000000U
#define ORR_TRACE_DATUM_ENDS 1     /* flag of DATUM */
#define ORR_TRACE_DATUM_UNTAGGED 2 /* flag of DATUM */
#define ORR_TRACE_USES_SMALL 1     /* flag of USES */
/* A datum of USES: a mode in the highest bits, a tag or, UNTAGGED, a number in the lowest, by which
 * the process knows it. */
#define ORR_TRACE_USE_MODE(mode) ((uint64_t) (mode) << 61)
#define ORR_TRACE_USE_UNTAGGED ((uint64_t) 1 << 60)
#define ORR_TRACE_USE_LEAST UINT64_C(0xfffffffffffffff)
/* SMALL: a mode in the highest bits of 32, UNTAGGED in the bit below, and a tag or a number that
 * has so many bits. */
#define ORR_TRACE_SMALL_MODE 29
#define ORR_TRACE_SMALL_TAG 28
#define ORR_TRACE_SMALL_UNTAGGED (1U << ORR_TRACE_SMALL_TAG)
/* Modes of USES. */
enum orr_trace_use { ORR_USE_R = 1, ORR_USE_W, ORR_USE_RW, ORR_USE_SCRATCH, ORR_USE_REDUX };
#define ORR_TRACE_LINK_SUM 1 /* flag of LINK */

/* Functions of the program that the runtime calls because of a task or a message. */
enum orr_trace_callback {
	ORR_CALLBACK_READY = 1, /* the prologue, before a policy gets the task */
	ORR_CALLBACK_TAKEN,     /* that of pop, before its kernel */
	ORR_CALLBACK_EXECUTED,  /* the epilogue, after its kernel */
	ORR_CALLBACK_DONE,      /* the task is over */
	ORR_CALLBACK_MESSAGE    /* of the request: it is complete */
};
#define ORR_TRACE_CALL_LEAST_US 1.0 /* a shorter call has no event */

/* Causes that hold messages back. */
enum orr_trace_hold {
	ORR_HOLD_NUMBER = 1, /* ready sends: the limit on the number of sends under way */
	ORR_HOLD_BYTES,      /* ready sends: the limit on their bytes */
	ORR_HOLD_TURN,       /* ready sends: so many start in one turn of the progression */
	ORR_HOLD_OTHERS,     /* a send: others of its value may come, for one tree */
	ORR_HOLD_VALUE,      /* a send: its value is leaving already */
	ORR_HOLD_ANNOUNCED,  /* a send: others of its datum are announced, and not there */
	ORR_HOLD_ORDER,      /* a message that came: it overtook others of its origin */
	ORR_HOLD_MEMORY      /* a message: it stays at its sender, for main memory is full */
};
#define ORR_TRACE_GOES_ON 0x80 /* flag of HELD */

/* Changes of a run, and what makes it wait for something that is not its work. */
enum orr_trace_change {
	ORR_CHANGE_CHECKPOINT = 1, /* a number: until this rank has saved its part; c bytes that it
				      saved, d bytes that it sent to other ranks */
	ORR_CHANGE_RESTORE,        /* a number of the checkpoint that the run goes on from; c bytes
				      of this rank's file */
	ORR_CHANGE_USE,            /* data move: c ranks in use before, d after it */
	ORR_CHANGE_RESIZE          /* another communicator: c ranks before, d after it; 0: this one
				      has left */
};

/* Sums of one thread, in a file with a limit: over all events, whether they are still there or not.
 */
enum orr_trace_sum {
	ORR_SUM_KERNEL = 1, /* worker, a string: name, b kernels that ended, c nanoseconds in them,
			       d the sum of c of their starts */
	ORR_SUM_SENT,       /* a peer, b messages that left, c bytes, d: of b, relayed */
	ORR_SUM_RECEIVED,   /* a the process that they came from, b messages, c bytes */
	ORR_SUM_COPIED,     /* worker: from, a: to, b copies that started, c bytes */
	ORR_SUM_MOMENTS,    /* a kind, and RECEIVE above it, b events, c the sum of their times
			       (mod 2^64), d the earliest of these */
	ORR_SUM_TURNS,      /* a as of ENGINE, and GUEST above it, b events, c nanoseconds, d of
			       them in callbacks */
	ORR_SUM_MEMORY      /* a memory node, b events, c the most bytes in use but those kept for
			       reuse, d limit */
};
#define ORR_SUM_FLAG 0x100U /* above a kind */

#define ORR_TRACE_EXPECTED ((uint64_t) 1 << 32) /* in d of END */

/* Flags of messages. */
#define ORR_TRACE_RECEIVE 1 /* of POST and GRANT */
#define ORR_TRACE_EAGER 2
#define ORR_TRACE_SYNC 4
#define ORR_TRACE_RELAYED 8 /* by another process than its origin */

/* Kinds of turns of the progression: `a` of ENGINE. */
enum orr_trace_turn {
	ORR_TURN_MESSAGES = 1, /* c requests taken in, envelopes and completions */
	ORR_TURN_TASKS,        /* c is 0: it executed tasks, one or some in a row */
	ORR_TURN_ASLEEP        /* where threads may drive; elsewhere it sleeps between turns */
};
#define ORR_TRACE_GUEST 1 /* flag of ENGINE: in another thread than the progression's own */

/* Causes: what lets something go on. 0: the program. */
#define ORR_CAUSE_TASK ((uint64_t) 1 << 60)    /* + number of the task that ended, or runs */
#define ORR_CAUSE_MESSAGE ((uint64_t) 2 << 60) /* + number of the request that completed */

#define ORR_TRACE_EVENTS_IN(block) \
	(((block) - sizeof(struct orr_trace_block)) / sizeof(struct orr_trace_event))
#define ORR_TRACE_PER_BLOCK ORR_TRACE_EVENTS_IN(ORR_TRACE_BLOCK)

_Static_assert(sizeof(struct orr_trace_head) == 8 + 6 * 4 + 2 * 8 + 2 * 4 + 64, "padding");
_Static_assert(sizeof(struct orr_trace_block) == 64, "padding");
_Static_assert(sizeof(struct orr_trace_event) == 40, "padding");
_Static_assert(sizeof(struct orr_trace_end) == 16, "padding");

#endif
