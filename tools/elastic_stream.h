/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One connection of the registry of an elastic run, as a stream of words (sys/dyn_wire.h) that
 * never blocks: bytes are gathered until a message is whole, and kept until the other end takes
 * them.
 *
 * Invariant: a stream never holds more than its limits, and no memory is taken for bytes that have
 * not come. */
#ifndef ORR_TOOLS_ELASTIC_STREAM_H
#define ORR_TOOLS_ELASTIC_STREAM_H

#include "dyn/words.h"

/* The most that a peer may send in one message before it has said the run's key, and after. */
#define ORR_STREAM_STRANGER ((size_t) 2048)
#define ORR_STREAM_PEER ((size_t) 4 << 20)
/* Words of a message. */
#define ORR_STREAM_WORDS (1 << 18)
/* The most that may wait for a peer that does not read. */
#define ORR_STREAM_BACKLOG ((size_t) 64 << 20)

struct orr_stream {
	int fd;      /* -1: closed */
	size_t most; /* bytes of a message */
	char *in, *out;
	size_t nin, in_room;
	size_t nout, out_room, sent; /* of out, `sent` bytes have gone */
};

/* A stream of a connection, which becomes non-blocking and is the stream's from now on. */
struct orr_stream orr_stream_of(int fd);
/* Takes bytes that are there. 0, or -1: the other end is gone. */
int orr_stream_read(struct orr_stream *s);
/* The next message: 1; 0: it is not whole; -1: it is nonsense, or too long. */
int orr_stream_next(struct orr_stream *s, unsigned *ticket, struct orr_dyn_words *words);
/* True if a whole message may be waiting. */
int orr_stream_pending(const struct orr_stream *s);
/* Sends words, now or when there is room. 0, or -1: the other end is gone or does not read. */
int orr_stream_send(struct orr_stream *s, unsigned ticket, const struct orr_dyn_words *words);
/* Sends what waits for room. 0, or -1: the other end is gone. */
int orr_stream_flush(struct orr_stream *s);
void orr_stream_close(struct orr_stream *s);

#endif
