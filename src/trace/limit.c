/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The room of a trace with a limit (see limit.h).
 *
 * Invariant: a block is rewritten only when it is complete, so no thread fills it; while some are,
 * the head of the file says so, for a reader of what a killed process left. */
#include "trace/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/seam.h"

#define LEAST ((uint64_t) 128 << 10)
#define LEAST_PER_PROCESS ((uint64_t) 12 << 10)
#define PIECE_LEAST ((uint64_t) 16 << 10)
#define PIECE_MOST ((uint64_t) 4 << 20)
/* So many windows there are at least, and less than twice as many: the path of what waited for what
 * is followed in each, so a few long ones say more than many short ones. */
#define PERIODS 3
#define WINDOW_LEAST_LOG2 10U /* a microsecond */
/* Events for which no other kind of block has room, or whose loss nobody could make good. */
#define PINNED \
	((uint64_t) 1 << ORR_TRACE_STRING | (uint64_t) 1 << ORR_TRACE_PROCESS | \
	 (uint64_t) 1 << ORR_TRACE_CLOCK | (uint64_t) 1 << ORR_TRACE_WORKER | \
	 (uint64_t) 1 << ORR_TRACE_LEFT | (uint64_t) 1 << ORR_TRACE_SUM)

struct orr_trace_piece {
	uint64_t at, bytes, used;
};

int orr_trace_limit_parse(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (errno || end == text || *text < '0' || *text > '9')
		return -EINVAL;
	const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned) (unit - units + 1) : 0;
	if ((*end && (!unit || end[1])) || n > (uint64_t) INT64_MAX >> shift)
		return -EINVAL;
	*bytes = (uint64_t) n << shift;
	return 0;
}

uint64_t orr_trace_limit_least(uint64_t nprocesses)
{
	return LEAST + nprocesses * LEAST_PER_PROCESS;
}

int orr_trace_room_init(struct orr_trace_room *room, int fd, struct orr_trace_head *head,
			uint64_t limit)
{
	uint64_t with_index = head->block + sizeof(struct orr_trace_block);

	*room = (struct orr_trace_room){ .head = head, .fd = fd, .mapped = limit };
	room->usable = limit / with_index * head->block;
	room->arena = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return room->arena == MAP_FAILED ? -errno : 0;
}

void orr_trace_room_exit(struct orr_trace_room *room)
{
	munmap(room->arena, room->mapped);
	free(room->pieces);
	free(room->freed);
}

/* ---- more of the file ---- */

/* An array has room for one more element. 0 or -ENOMEM. */
static int extend(void **array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return 0;
	size_t more = *cap ? 2 * *cap : 64;
	void *p = realloc(*array, more * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = more;
	return 0;
}

/* Takes a further piece of the file, no more than this process's share of the room. 0 or errno. */
static int grow(struct orr_trace_room *room, unsigned nusers)
{
	uint64_t bytes = room->usable / 256 / PIECE_LEAST * PIECE_LEAST;
	uint64_t share = room->usable / ORR_ATOMIC_LOAD(&room->head->nopen) * nusers;
	uint64_t at = ORR_ATOMIC_LOAD(&room->head->end);

	bytes = bytes < PIECE_LEAST ? PIECE_LEAST : bytes > PIECE_MOST ? PIECE_MOST : bytes;
	do {
		if (at + bytes > room->usable)
			bytes = room->usable > at
					? (room->usable - at) / ORR_TRACE_BLOCK * ORR_TRACE_BLOCK
					: 0;
		if (!bytes || (room->taken && room->taken + bytes > share))
			return EFBIG;
	} while (!ORR_ATOMIC_CAS(&room->head->end, &at, at + bytes));
	int err = posix_fallocate(room->fd, (off_t) at, (off_t) bytes);
	if (!err && extend((void **) &room->pieces, room->npieces, &room->pieces_cap,
			   sizeof(*room->pieces)))
		err = ENOMEM;
	if (err)
		return err;
	room->pieces[room->npieces++] = (struct orr_trace_piece){ .at = at, .bytes = bytes };
	room->taken += bytes;
	return 0;
}

int orr_trace_room_adopt(struct orr_trace_room *room)
{
	uint64_t end = room->head->end;

	if (end <= ORR_TRACE_BLOCK)
		return 0;
	if (extend((void **) &room->pieces, room->npieces, &room->pieces_cap,
		   sizeof(*room->pieces)))
		return -ENOMEM;
	uint64_t bytes = end - ORR_TRACE_BLOCK;
	room->pieces[room->npieces++] = (struct orr_trace_piece){ .at = ORR_TRACE_BLOCK,
								  .bytes = bytes,
								  .used = bytes };
	room->taken += bytes;
	room->windows = room->head->windows;
	return 0;
}

/* ---- thinning out ---- */

/* A complete block of events. */
struct candidate {
	uint64_t stream; /* and its process */
	uint64_t at;
	uint32_t number;
};

struct candidates {
	struct candidate *v;
	size_t n, cap;
	int64_t first_ns, last_ns; /* of the run */
};

static struct orr_trace_block *block_at(const struct orr_trace_room *room, uint64_t at)
{
	return (struct orr_trace_block *) (void *) (room->arena + at);
}

static int by_stream(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int gather(const struct orr_trace_room *room, struct candidates *found)
{
	*found = (struct candidates){ .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	for (size_t i = 0; i < room->npieces; i++)
		for (uint64_t place = 0; place < room->pieces[i].used; place += room->head->block) {
			const struct orr_trace_block *b = block_at(room,
								   room->pieces[i].at + place);

			if (b->magic != ORR_TRACE_BLOCK_MAGIC || !ORR_ATOMIC_LOAD(&b->nevents) ||
			    b->kinds & PINNED)
				continue;
			if (extend((void **) &found->v, found->n, &found->cap, sizeof(*found->v))) {
				free(found->v);
				return -ENOMEM;
			}
			found->v[found->n++] = (struct candidate){
				.stream = (uint64_t) b->process << 32 | b->stream,
				.at = room->pieces[i].at + place,
				.number = b->number
			};
			int64_t first = b->first_ns + b->clock_ns, last = b->last_ns + b->clock_ns;
			found->first_ns = first < found->first_ns ? first : found->first_ns;
			found->last_ns = last > found->last_ns ? last : found->last_ns;
		}
	qsort(found->v, found->n, sizeof(*found->v), by_stream);
	return 0;
}

static unsigned log2_of(uint64_t x)
{
	return x ? 63U - (unsigned) __builtin_clzll(x) : 0;
}

/* Fewer or shorter windows than those; 0: there are none. */
static uint32_t fewer(uint32_t windows, uint64_t span_ns)
{
	unsigned period = ORR_TRACE_PERIOD_LOG2(windows), window = ORR_TRACE_WINDOW_LOG2(windows);

	if (!period) {
		period = log2_of(span_ns / PERIODS);
		period = period > WINDOW_LEAST_LOG2 ? period : WINDOW_LEAST_LOG2 + 1;
		window = period - 1;
	} else if (span_ns >> period >= 2 * PERIODS)
		period++;
	else if (window > WINDOW_LEAST_LOG2)
		window--;
	else
		return 0;
	return (windows & ORR_TRACE_THINNING_MASK) | period << 8 | window;
}

/* The rest of the events of one stream goes into the first of its blocks. */
struct rewriter {
	struct orr_trace_room *room;
	const struct candidate *target; /* the next block to be written */
	struct orr_trace_block head;    /* of it */
	uint32_t n, most;
	struct orr_trace_event events[ORR_TRACE_PER_BLOCK];
};

static void put_events(struct rewriter *w, uint32_t n)
{
	struct orr_trace_block *b = block_at(w->room, w->target->at);
	uint32_t number = b->number;

	ORR_ATOMIC_STORE(&b->magic, 0);
	memcpy(b + 1, w->events, n * sizeof(w->events[0]));
	w->head.number = number;
	w->head.nevents = n;
	*b = w->head;
	ORR_ATOMIC_STORE(&b->magic, ORR_TRACE_BLOCK_MAGIC);
	w->target++;
	w->n -= n;
	memmove(w->events, w->events + n, w->n * sizeof(w->events[0]));
}

/* The head of the block is that of the events so far, which are all of its clock. */
static void summarize(struct rewriter *w, uint32_t n)
{
	w->head.first_ns = INT64_MAX;
	w->head.last_ns = INT64_MIN;
	w->head.kinds = 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t ns = w->events[i].ns;

		w->head.first_ns = ns < w->head.first_ns ? ns : w->head.first_ns;
		w->head.last_ns = ns > w->head.last_ns ? ns : w->head.last_ns;
		w->head.kinds |= (uint64_t) 1 << w->events[i].kind;
	}
}

static void flush(struct rewriter *w)
{
	if (w->n) {
		summarize(w, w->n);
		put_events(w, w->n);
	}
}

static void rewrite(struct rewriter *w, const struct candidate *from, uint32_t windows)
{
	const struct orr_trace_block *b = block_at(w->room, from->at);
	const struct orr_trace_event *e = (const void *) (b + 1);
	struct orr_trace_event kept[ORR_TRACE_PER_BLOCK];
	struct orr_trace_block head = *b;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nevents; i++)
		if (orr_trace_limit_keeps(windows, e[i].ns + b->clock_ns))
			kept[n++] = e[i];
	if (w->n && w->head.clock_ns != head.clock_ns)
		flush(w);
	for (uint32_t i = 0; i < n; i++) {
		if (w->n == w->most)
			flush(w);
		w->head = head;
		w->events[w->n++] = kept[i];
	}
}

/* Blocks of one stream; those that are left are free. 0 or -ENOMEM. */
static int thin_stream(struct rewriter *w, const struct candidate *first,
		       const struct candidate *end, uint32_t windows)
{
	struct orr_trace_room *room = w->room;

	w->target = first;
	w->n = 0;
	for (const struct candidate *c = first; c < end; c++)
		rewrite(w, c, windows);
	flush(w);
	for (; w->target < end; w->target++) {
		struct orr_trace_block *b = block_at(room, w->target->at);

		if (extend((void **) &room->freed, room->nfreed, &room->freed_cap,
			   sizeof(*room->freed)))
			return -ENOMEM;
		ORR_ATOMIC_STORE(&b->magic, 0);
		memset(b, 0, room->head->block);
		room->freed[room->nfreed++] = w->target->at;
	}
	return 0;
}

/* Rewrites all complete blocks of this process. 0 or -ENOMEM. */
static int thin_out(struct orr_trace_room *room, const struct candidates *all, uint32_t windows)
{
	struct rewriter *w = malloc(sizeof(*w));
	int ret = w ? 0 : -ENOMEM;

	if (ret)
		return ret;
	w->room = room;
	w->most = (uint32_t) ORR_TRACE_EVENTS_IN(room->head->block);
	room->windows = windows;
	ORR_ATOMIC_ADD(&room->head->windows, ORR_TRACE_THINNING);
	for (size_t i = 0, end; i < all->n && !ret; i = end) {
		for (end = i + 1; end < all->n && all->v[end].stream == all->v[i].stream;)
			end++;
		ret = thin_stream(w, &all->v[i], &all->v[end], windows);
	}
	ORR_ATOMIC_ADD(&room->head->windows, -ORR_TRACE_THINNING);
	free(w);
	return ret;
}

/* Makes blocks free: a quarter of those with events, or as many as there are. 0: none. */
static int make_room(struct orr_trace_room *room)
{
	struct candidates all = { 0 };
	size_t wanted = 0;

	while (!gather(room, &all)) {
		uint32_t now = ORR_ATOMIC_LOAD(&room->head->windows), next = now;

		wanted = wanted ? wanted : all.n / 4 + 1;
		if (!all.n)
			break;
		if (room->windows == (now & ~ORR_TRACE_THINNING_MASK))
			next = fewer(now, (uint64_t) (all.last_ns -
						      (all.first_ns < 0 ? all.first_ns : 0)));
		if (!next)
			break;
		ORR_ATOMIC_OR(&room->head->flags, ORR_TRACE_THINNED);
		if (next == now || ORR_ATOMIC_CAS(&room->head->windows, &now, next)) {
			if (thin_out(room, &all, next & ~ORR_TRACE_THINNING_MASK))
				break;
			if (room->nfreed >= wanted)
				break;
		}
		free(all.v);
		all.v = NULL;
	}
	free(all.v);
	return room->nfreed != 0;
}

struct orr_trace_block *orr_trace_room_block(struct orr_trace_room *room, unsigned nusers)
{
	struct orr_trace_piece *last = room->npieces ? &room->pieces[room->npieces - 1] : NULL;
	int err = 0;

	if (!room->nfreed && (!last || last->used == last->bytes)) {
		err = grow(room, nusers);
		last = room->npieces ? &room->pieces[room->npieces - 1] : NULL;
	}
	if (!room->nfreed && (!last || last->used == last->bytes) &&
	    (err != EFBIG || !make_room(room))) {
		errno = err;
		return NULL;
	}
	if (room->nfreed)
		return block_at(room, room->freed[--room->nfreed]);
	last->used += room->head->block;
	return block_at(room, last->at + last->used - room->head->block);
}
