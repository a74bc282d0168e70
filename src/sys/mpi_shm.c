/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transport "shm": large payloads between ranks of one host are copied straight from the buffer
 * of the sender to that of the receiver, by both of them at the same time; everything else goes to
 * the transport below, which is called MPI here.
 *
 * Linux lets a process read and write the memory of another one that it might trace
 * (process_vm_readv(2)). Each process has a few slots in memory that the others map. The sender of
 * a payload enters its buffer in a slot, and sends an offer over MPI in place of the payload. The
 * receiver enters its own buffer. Then each side takes the next piece that nobody has taken, until
 * none is left: two cores copy if both have time, one if not. A side whose buffer is no plain row
 * of bytes lets MPI carry the payload behind the offer.
 *
 * All ranks of a host use it or none does: each tries the memory of its neighbour at the start.
 *
 * Invariant: both sides decide by the number of bytes and the host alone whether an offer comes
 * first. A slot is taken again only after the receiver has freed it and the sender has reported the
 * payload. */
#include "sys/mpi_transports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/log.h"
#include "sys/mpi_host.h"

#define LEAST (128 << 10) /* payloads of fewer bytes go over MPI */
#define PIECE (256 << 10)
#define PIECES_AT_ONCE 64
#define SPINS 1000
#define NSLOTS 64
#define PROBE 0x6f727265727921ULL

enum slot_state { SLOT_FREE, SLOT_OFFERED, SLOT_ACCEPTED, SLOT_REFUSED };

/* In memory that all ranks of the host see. Only `next` and `done` are written by both sides. */
struct slot {
	int state; /* atomic: enum slot_state */
	char *from, *to;
	size_t bytes;
	uint32_t npieces, next, done; /* the last two atomic */
} __attribute__((aligned(128)));

/* A rank as it presents itself to those of its host. */
struct local {
	int rank; /* in the engine's world */
	int fd;   /* of its slots */
	pid_t pid;
	const uint64_t *probe;
	struct slot *slots; /* as mapped here; not sent */
};

struct offer {
	uint64_t bytes;
	int32_t slot; /* -1: the payload follows */
};

/* A payload that begins with an offer. */
struct direct {
	struct orr_parcel offer_parcel; /* first */
	struct direct *next;
	struct orr_parcel *flight;
	struct offer offer;
	struct slot *slot; /* NULL: MPI carries the payload, or the offer is not here */
	const struct local *peer;
	void *buf;
	struct orr_layout layout; /* kept */
	int tag, sends, synchronous;
	int offer_flies;
	int announced; /* the caller knows that the next test copies */
};

static struct orr_real_shm {
	int usable;
	const struct orr_transport *below; /* carries everything else */
	struct local *locals;              /* by rank */
	int nlocals;
	struct slot *slots; /* this process's */
	uint8_t in_use[NSLOTS];
	int fd;
	uint64_t probe;
	struct direct *directs;     /* all of them */
	uint64_t npayloads, nbytes; /* copied to and from this process, for the statistics */
} shm;

static const struct orr_transport *below(void)
{
	return shm.below;
}

/* ---- neighbours ---- */

static const struct local *local_of(int rank)
{
	int low = 0, high = shm.nlocals;

	while (low < high) {
		int middle = (low + high) / 2;
		if (shm.locals[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < shm.nlocals && shm.locals[low].rank == rank ? &shm.locals[low] : NULL;
}

static struct slot *map_slots(int fd)
{
	void *p = mmap(NULL, NSLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

static int make_slots(void)
{
	shm.fd = memfd_create("orrery", MFD_CLOEXEC);
	if (shm.fd < 0 || ftruncate(shm.fd, NSLOTS * sizeof(struct slot)))
		return 0;
	shm.slots = map_slots(shm.fd);
	return shm.slots != NULL;
}

/* Maps the slots of a neighbour, and reads a word of its memory. */
static int attach(struct local *l)
{
	uint64_t word = 0;
	struct iovec here = { &word, sizeof(word) }, there = { (void *) l->probe, sizeof(word) };
	char path[64];

	if (process_vm_readv(l->pid, &here, 1, &there, 1, 0) != sizeof(word) || word != PROBE)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) l->pid, l->fd);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	l->slots = map_slots(fd);
	close(fd);
	return l->slots != NULL;
}

static int by_rank(const void *a, const void *b)
{
	return ((const struct local *) a)->rank - ((const struct local *) b)->rank;
}

/* Asks all ranks of the host about themselves. Returns whether everybody can reach everybody. */
static int meet(MPI_Comm host, int rank)
{
	struct local me = { .rank = rank, .pid = getpid(), .probe = &shm.probe };
	int fine = make_slots();

	me.fd = shm.fd;
	shm.probe = PROBE;
	MPI_Comm_size(host, &shm.nlocals);
	shm.locals = calloc((size_t) shm.nlocals, sizeof(*shm.locals));
	if (!shm.locals)
		orr_fatal("out of memory for %d neighbours", shm.nlocals);
	MPI_Allgather(&me, sizeof(me), MPI_BYTE, shm.locals, sizeof(me), MPI_BYTE, host);
	qsort(shm.locals, (size_t) shm.nlocals, sizeof(*shm.locals), by_rank);
	for (int i = 0; i < shm.nlocals && fine; i++)
		if (shm.locals[i].rank != rank)
			fine = attach(&shm.locals[i]);
	MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_MIN, host);
	return fine && shm.nlocals > 1;
}

void orr_real_shm_init(MPI_Comm comm, int rank, int named, const struct orr_transport *under)
{
	MPI_Comm host = orr_real_neighbours(comm);

	shm.below = under;
	shm.usable = meet(host, rank);
	if (!shm.usable && named && shm.nlocals > 1)
		orr_warn(
			"ORRERY_TRANSPORT=shm: the ranks of this host may not reach each other's memory (process_vm_readv(2); kernel.yama.ptrace_scope), so the %s transport carries all messages",
			shm.below->name);
	MPI_Comm_free(&host);
}

void orr_real_shm_exit(void)
{
	for (int i = 0; i < shm.nlocals; i++)
		if (shm.locals[i].slots)
			munmap(shm.locals[i].slots, NSLOTS * sizeof(struct slot));
	if (shm.slots)
		munmap(shm.slots, NSLOTS * sizeof(struct slot));
	if (shm.fd > 0)
		close(shm.fd);
	free(shm.locals);
	memset(&shm, 0, sizeof(shm));
}

/* ---- copying ---- */

static void copy_piece(const struct direct *d, uint32_t piece)
{
	const struct slot *s = d->slot;
	size_t at = (size_t) piece * PIECE, left = s->bytes - at, n = left < PIECE ? left : PIECE;
	struct iovec from = { s->from + at, n }, to = { s->to + at, n };

	while (from.iov_len) {
		ssize_t done = d->sends ? process_vm_writev(d->peer->pid, &from, 1, &to, 1, 0)
					: process_vm_readv(d->peer->pid, &to, 1, &from, 1, 0);
		if (done <= 0)
			orr_fatal("rank %d, a process of this host, cannot be reached any more: %s",
				  d->peer->rank, strerror(errno));
		from.iov_base = (char *) from.iov_base + done;
		to.iov_base = (char *) to.iov_base + done;
		from.iov_len -= (size_t) done;
		to.iov_len -= (size_t) done;
	}
}

/* Returns whether there was a piece left to copy. */
static int help(struct direct *d)
{
	struct slot *s = d->slot;

	if (ORR_ATOMIC_LOAD_RELAXED(&s->next) >= s->npieces)
		return 0;
	uint32_t piece = ORR_ATOMIC_ADD(&s->next, 1) - 1;
	if (piece >= s->npieces)
		return 0;
	copy_piece(d, piece);
	ORR_ATOMIC_ADD(&s->done, 1);
	return 1;
}

/* Both sides are done. */
static int is_over(const struct direct *d)
{
	return ORR_ATOMIC_LOAD(&d->slot->done) == d->slot->npieces;
}

/* Copies for some milliseconds at most, without a pause in which the system could take the
 * processor away; then waits a little for the other side, which has at most one piece in hand.
 * Returns whether it copied. */
static int help_long(struct direct *d)
{
	int n = 0;

	while (n < PIECES_AT_ONCE && help(d))
		n++;
	for (int i = 0; n && i < SPINS && !is_over(d); i++)
		orr_sys_relax();
	return n > 0;
}

/* ---- beginning ---- */

static struct direct *direct_new(struct orr_parcel *f, const void *buf, const struct orr_layout *l,
				 const struct local *peer, int tag)
{
	struct direct *d = calloc(1, sizeof(*d));

	if (!d)
		orr_fatal("out of memory for a message");
	d->flight = f;
	d->buf = (void *) buf;
	d->peer = peer;
	d->tag = tag;
	d->offer_flies = 1;
	orr_layout_keep(&d->layout, l);
	d->next = shm.directs;
	shm.directs = d;
	return d;
}

static void direct_end(struct direct *d)
{
	struct direct **at = &shm.directs;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	orr_layout_drop(&d->layout);
	free(d);
}

/* A neighbour, if a payload of that many bytes begins with an offer. */
static const struct local *partner(int rank, const struct orr_layout *l)
{
	return l->size < LEAST ? NULL : local_of(rank);
}

static int take_slot(void)
{
	for (int i = 0; i < NSLOTS; i++)
		if (!shm.in_use[i] && ORR_ATOMIC_LOAD(&shm.slots[i].state) == SLOT_FREE) {
			shm.in_use[i] = 1;
			return i;
		}
	return -1;
}

static void fill_slot(struct direct *d, int slot)
{
	struct slot *s = d->slot = &shm.slots[slot];

	s->from = d->buf;
	s->bytes = d->layout.size;
	s->npieces = (uint32_t) ((s->bytes + PIECE - 1) / PIECE);
	ORR_ATOMIC_STORE(&s->next, 0);
	ORR_ATOMIC_STORE(&s->done, 0);
	ORR_ATOMIC_STORE(&s->state, SLOT_OFFERED);
}

/* An offer and the payload behind it have the same tag, and arrive in order. */
static struct orr_layout *offer_layout(struct orr_layout *l)
{
	return orr_layout_row(l, sizeof(struct offer));
}

static void shm_send(struct orr_process *proc, struct orr_parcel *f, const void *buf,
		     const struct orr_layout *l, int dest, int tag, int synchronous)
{
	const struct local *peer = tag == orr_real_mpi_envelope_tag() ? NULL : partner(dest, l);
	struct orr_layout offer;

	if (!peer) {
		below()->send(proc, f, buf, l, dest, tag, synchronous);
		return;
	}
	struct direct *d = direct_new(f, buf, l, peer, tag);
	int slot = orr_layout_is_row(l) ? take_slot() : -1;
	d->sends = 1;
	d->synchronous = synchronous;
	d->offer.slot = slot;
	if (slot >= 0)
		fill_slot(d, slot);
	below()->send(proc, &d->offer_parcel, &d->offer, offer_layout(&offer), dest, tag, 0);
	if (slot < 0)
		below()->send(proc, f, buf, l, dest, tag, synchronous);
}

static void shm_receive(struct orr_process *proc, struct orr_parcel *f, void *buf,
			const struct orr_layout *l, int source, int tag)
{
	const struct local *peer = partner(source, l);
	struct orr_layout offer;

	if (!peer) {
		below()->receive(proc, f, buf, l, source, tag);
		return;
	}
	struct direct *d = direct_new(f, buf, l, peer, tag);
	below()->receive(proc, &d->offer_parcel, &d->offer, offer_layout(&offer), source, tag);
}

/* ---- going on ---- */

/* The receiver has the offer. */
static void answer(struct orr_process *proc, struct direct *d)
{
	struct slot *s = d->offer.slot < 0 ? NULL : &d->peer->slots[d->offer.slot];

	if (s && orr_layout_is_row(&d->layout)) {
		orr_assert(ORR_ATOMIC_LOAD(&s->state) == SLOT_OFFERED &&
			   s->bytes == d->layout.size);
		d->slot = s;
		s->to = d->buf;
		ORR_ATOMIC_STORE(&s->state, SLOT_ACCEPTED);
		return;
	}
	if (s)
		ORR_ATOMIC_STORE(&s->state, SLOT_REFUSED);
	below()->receive(proc, d->flight, d->buf, &d->layout, d->peer->rank, d->tag);
	direct_end(d);
}

/* The offer of d has left, or has come. */
static void offer_landed(struct orr_process *proc, struct direct *d)
{
	d->offer_flies = 0;
	if (!d->sends)
		answer(proc, d);
	else if (!d->slot)
		direct_end(d);
}

static struct direct *direct_of(const struct orr_parcel *f)
{
	struct direct *d = shm.directs;

	while (d && &d->offer_parcel != f)
		d = d->next;
	return d;
}

static void free_slot(struct direct *d)
{
	if (d->sends)
		shm.in_use[d->slot - shm.slots] = 0;
	else
		ORR_ATOMIC_STORE(&d->slot->state, SLOT_FREE);
}

/* The receiver wants the payload over MPI. */
static void send_anyway(struct orr_process *proc, struct direct *d)
{
	ORR_ATOMIC_STORE(&d->slot->state, SLOT_FREE);
	free_slot(d);
	below()->send(proc, d->flight, d->buf, &d->layout, d->peer->rank, d->tag, d->synchronous);
	direct_end(d);
}

/* One step of one payload. */
static enum orr_transport_event step(struct orr_process *proc, struct direct *d,
				     struct orr_landing *l)
{
	if (!d->slot || d->offer_flies)
		return ORR_TRANSPORT_NOTHING;
	int state = ORR_ATOMIC_LOAD(&d->slot->state);
	if (state == SLOT_OFFERED)
		return ORR_TRANSPORT_NOTHING;
	if (state == SLOT_REFUSED) {
		send_anyway(proc, d);
		return ORR_TRANSPORT_FLOWING;
	}
	if (!d->announced && !is_over(d)) { /* a worker leaves the copy to another thread */
		d->announced = 1;
		return ORR_TRANSPORT_FLOWING;
	}
	if (!help_long(d) && !is_over(d))
		return ORR_TRANSPORT_NOTHING;
	if (!is_over(d))
		return ORR_TRANSPORT_FLOWING;
	*l = (struct orr_landing){ .flight = d->flight };
	shm.npayloads++;
	shm.nbytes += d->slot->bytes;
	free_slot(d);
	direct_end(d);
	return ORR_TRANSPORT_LANDED;
}

static enum orr_transport_event shm_test(struct orr_process *proc, struct orr_landing *l)
{
	enum orr_transport_event event = below()->test(proc, l);
	struct direct *next;

	if (!shm.directs)
		return event;
	if (event == ORR_TRANSPORT_LANDED) {
		struct direct *d = l->flight ? direct_of(l->flight) : NULL;
		if (!d)
			return event;
		offer_landed(proc, d);
		event = ORR_TRANSPORT_FLOWING;
	}
	for (struct direct *d = shm.directs; d; d = next) {
		next = d->next;
		enum orr_transport_event one = step(proc, d, l);
		if (one != ORR_TRANSPORT_NOTHING)
			return one;
	}
	return event;
}

/* ---- the table ---- */

static int shm_open_engine(struct orr_process *proc, int tag, size_t most,
			   struct orr_transport_limits *limits)
{
	return below()->open(proc, tag, most, limits);
}

static void shm_close(struct orr_process *proc)
{
	orr_assertf(!shm.directs, "payloads are under way at the end");
	if (proc->cfg->mpi_stats)
		fprintf(stderr,
			"[starpu_comm_stats][%d] shm: %" PRIu64 " payloads, %" PRIu64
			" B, copied between ranks of this host\n",
			proc->mpi_rank, shm.npayloads, shm.nbytes);
	below()->close(proc);
}

static void shm_send_ahead(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			   int count, int dest, int tag)
{
	below()->send_ahead(proc, f, buf, count, dest, tag);
}

static void shm_send_ahead_end(struct orr_process *proc, struct orr_parcel *f)
{
	below()->send_ahead_end(proc, f);
}

static void shm_listen(struct orr_process *proc)
{
	below()->listen(proc);
}

static enum orr_transport_event shm_wait(struct orr_process *proc, struct orr_landing *l)
{
	return below()->wait(proc, l);
}

static void shm_wake(struct orr_process *proc)
{
	below()->wake(proc);
}

const struct orr_transport *orr_real_shm_transport(void)
{
	static const struct orr_transport transport = {
		.name = "shm",
		.open = shm_open_engine,
		.close = shm_close,
		.send = shm_send,
		.send_ahead = shm_send_ahead,
		.send_ahead_end = shm_send_ahead_end,
		.receive = shm_receive,
		.listen = shm_listen,
		.test = shm_test,
		.wait = shm_wait,
		.wake = shm_wake,
	};

	return shm.usable ? &transport : NULL;
}
