/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a trace (see file.h).
 *
 * Invariant: joining and leaving happen under flock() of the file; `end` of its head only grows
 * while somebody writes. The list of files, and what is in memory of one, is under its lock; in a
 * simulated run all ranks share one list, and take turns. */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/log.h"
#include "base/output.h"
#include "base/private.h"
#include "trace/limit.h"

#define CHUNK_FIRST (16 * ORR_TRACE_BLOCK)
#define CHUNK_MOST (64 * ORR_TRACE_BLOCK)

#define MOST_HEADS ((size_t) 1 << 20) /* 64 MiB, for 4 GiB of the file */

#define NO_ROOM "has no room for more, and nothing more is recorded"

/* Blocks that lie side by side and are mapped together. */
struct orr_trace_chunk {
	char *base;
	size_t bytes, used, before; /* `before` bytes of its first page belong to others */
	unsigned nused; /* blocks given out and not given back, +1 while more are given out */
};

struct orr_trace_file {
	struct orr_trace_file *next; /* in the list of this process, or of all ranks */
	char *path;
	orr_lock_t lock; /* protects all below but head */
	unsigned nusers;
	int fd; /* -1: nobody writes */
	struct orr_trace_head *head;
	dev_t device; /* what this process has begun or joined */
	ino_t inode;
	struct orr_trace_chunk *chunk; /* that blocks are taken from, or NULL */
	size_t chunk_bytes;            /* of the next one */
	uint64_t limit;                /* of the file; 0: none */
	int partial;                   /* not everything is recorded */
	struct orr_trace_room room;    /* with a limit, instead of chunks */
	struct orr_crc32 crc;          /* its tables */
	/* The heads of blocks that this process has appended, by their numbers in the file, and
	 * else 0: to read them for the index costs more than to keep them. */
	struct orr_trace_block *heads;
	size_t nheads;
	int full;
};

/* ---- the file itself ---- */

static void trace_file_tell(const struct orr_trace_file *f, const char *what, int err)
{
	orr_error("ORRERY_TRACE: '%s' %s: %s; name another file", f->path, what,
		  orr_private_why(-err));
}

/* It cannot be begun. */
static void tell_refused(const struct orr_trace_file *f, int err)
{
	if (err == ENODEV)
		orr_error(
			"ORRERY_TRACE: '%s' cannot be written: a trace must be a file on a disk; name another file",
			f->path);
	else if (err == ENOENT)
		orr_output_refuse_folder("ORRERY_TRACE", f->path, -err);
	else
		trace_file_tell(f, "cannot be written", err);
}

/* Opens the file and takes its lock. 0 or -errno; -EAGAIN: another process has replaced it. */
static int open_locked(struct orr_trace_file *f, struct stat *st)
{
	struct stat named;

	int fd = orr_private_output(f->path, O_RDWR | O_CREAT), ret;
	if (fd < 0)
		return fd;
	f->fd = fd;
	ret = orr_private_lock(fd);
	if (!ret && fstat(fd, st))
		ret = -errno;
	if (!ret &&
	    (stat(f->path, &named) || named.st_ino != st->st_ino || named.st_dev != st->st_dev))
		ret = -EAGAIN;
	if (!ret && !S_ISREG(st->st_mode))
		ret = -ENODEV;
	if (ret) {
		close(f->fd);
		f->fd = -1;
	}
	return ret;
}

/* Does the file, which has that head, belong to this run? */
static int is_ours(const struct orr_trace_file *f, const struct stat *st,
		   const struct orr_trace_head *head, const char *key)
{
	if (f->inode == st->st_ino && f->device == st->st_dev)
		return 1;
	return *key && !strcmp(head->key, key);
}

/* The file is locked and not empty. 1: it is this run's; 0: it is an older one and is gone now;
 * -errno after a message. */
static int examine(struct orr_trace_file *f, const struct stat *st, const char *key)
{
	struct orr_trace_head head;

	if (pread(f->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.magic, ORR_TRACE_MAGIC, sizeof(head.magic))) {
		orr_error(
			"ORRERY_TRACE: '%s' is there and is not a trace; remove it, or name another file",
			f->path);
		return -EEXIST;
	}
	head.key[sizeof(head.key) - 1] = '\0';
	if (is_ours(f, st, &head, key) && head.version == ORR_TRACE_VERSION)
		return 1;
	if (unlink(f->path)) {
		int err = errno;

		trace_file_tell(f, "cannot be replaced", err);
		return -err;
	}
	return 0;
}

static int begin(struct orr_trace_file *f, const char *key, const char *text)
{
	char block[ORR_TRACE_BLOCK] = { 0 };
	struct orr_trace_head head = { .version = ORR_TRACE_VERSION,
				       .block = f->limit ? ORR_TRACE_SMALL_BLOCK : ORR_TRACE_BLOCK,
				       .event = sizeof(struct orr_trace_event),
				       .flags = (orr_sys_is_simulated() ? ORR_TRACE_SIMULATED : 0) |
						(f->limit ? ORR_TRACE_LIMITED : 0) |
						(f->partial ? ORR_TRACE_PARTIAL : 0),
				       .end = ORR_TRACE_BLOCK };
	size_t n = strlen(text);

	memcpy(head.magic, ORR_TRACE_MAGIC, sizeof(head.magic)); /* without the 0 behind it */
	head.text_bytes = (uint32_t) (n < sizeof(block) - sizeof(head)
					      ? n
					      : sizeof(block) - sizeof(head));
	snprintf(head.key, sizeof(head.key), "%s", key);
	memcpy(block, &head, sizeof(head));
	memcpy(block + sizeof(head), text, head.text_bytes);
	errno = ENOSPC;
	return write(f->fd, block, sizeof(block)) == sizeof(block) ? 0 : -errno;
}

/* The file is locked and has its head: the process takes part. */
static int enter(struct orr_trace_file *f, const struct stat *st, uint32_t *number)
{
	struct orr_trace_head *head = mmap(NULL, ORR_TRACE_BLOCK, PROT_READ | PROT_WRITE,
					   MAP_SHARED, f->fd, 0);

	if (head == MAP_FAILED)
		return -errno;
	if (head->flags & ORR_TRACE_LIMITED) { /* as the process that began the file has it */
		int ret = orr_trace_room_init(&f->room, f->fd, head,
					      f->limit ? f->limit : head->end);
		if (!ret && !head->nopen)
			ret = orr_trace_room_adopt(&f->room);
		if (ret) {
			munmap(head, ORR_TRACE_BLOCK);
			return ret;
		}
	}
	if (head->flags & ORR_TRACE_CLOSED) { /* it goes on: the index is in the way */
		if (ftruncate(f->fd, (off_t) head->end)) {
			int err = errno;

			if (head->flags & ORR_TRACE_LIMITED)
				orr_trace_room_exit(&f->room);
			munmap(head, ORR_TRACE_BLOCK);
			return -err;
		}
		head->nindex = 0;
		head->flags &= ~(uint32_t) ORR_TRACE_CLOSED;
	}
	*number = head->nprocesses++;
	head->nopen++;
	f->head = head;
	f->device = st->st_dev;
	f->inode = st->st_ino;
	f->chunk_bytes = CHUNK_FIRST;
	f->full = 0;
	return 0;
}

/* Opens the file and enters it. */
static int open_file(struct orr_trace_file *f, const char *key, const char *text, uint32_t *number)
{
	struct stat st;
	int ret;

	do {
		ret = open_locked(f, &st);
		if (!ret && st.st_size) {
			ret = examine(f, &st, key);
			if (ret <= 0) {
				close(f->fd);
				f->fd = -1;
			}
			if (ret < 0)
				return ret;
			ret = ret ? 0 : -EAGAIN;
		} else if (!ret)
			ret = begin(f, key, text);
	} while (ret == -EAGAIN);
	if (!ret)
		ret = enter(f, &st, number);
	if (f->fd >= 0)
		flock(f->fd, LOCK_UN);
	if (ret) {
		tell_refused(f, -ret);
		if (f->fd >= 0)
			close(f->fd);
		f->fd = -1;
	}
	return ret;
}

/* ---- who takes part ---- */

static struct orr_trace_file *find(struct orr_trace_file **list, const char *path)
{
	struct orr_trace_file *f = *list;

	while (f && strcmp(f->path, path))
		f = f->next;
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (f)
		f->path = strdup(path);
	if (!f || !f->path) {
		free(f);
		return NULL;
	}
	orr_lock_init(&f->lock, ORR_RANK_TRACE_FILE);
	orr_crc32_init(&f->crc);
	f->fd = -1;
	f->next = *list;
	*list = f;
	return f;
}

int orr_trace_file_join(struct orr_process *proc, const struct orr_trace_wish *wish,
			struct orr_trace_file **out, uint32_t *number)
{
	struct orr_trace_file *f = find(orr_sys_trace_files(), wish->path);
	char key[sizeof(f->head->key)];
	int ret = 0;

	if (!f)
		return -ENOMEM;
	if (f->fd < 0) {
		f->limit = wish->limit;
		f->partial = wish->partial;
		orr_sys_run_name(proc, key, sizeof(key));
		ret = open_file(f, key, wish->text, number);
	} else {
		ret = orr_private_lock(f->fd);
		if (ret) {
			tell_refused(f, -ret);
			return ret;
		}
		*number = f->head->nprocesses++;
		f->head->nopen++;
		flock(f->fd, LOCK_UN);
	}
	if (ret)
		return ret;
	f->nusers++;
	*out = f;
	return 0;
}

const struct orr_trace_head *orr_trace_file_head(const struct orr_trace_file *f)
{
	return f->head;
}

static int write_all(int fd, const void *from, size_t bytes)
{
	const char *p = from;

	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		p += n;
		bytes -= (size_t) n;
	}
	return 0;
}

/* The memory that an index is made with: too large for the stack of a simulated rank. */
struct index {
	struct orr_trace_block entry[256];
	uint32_t sum;     /* of the entries */
	uint64_t block[]; /* of the file */
};

/* Of a block of that many bytes, but for the field itself. */
static uint32_t checksum_of(const struct orr_crc32 *crc, const struct orr_trace_block *b,
			    size_t size)
{
	const size_t field = offsetof(struct orr_trace_block, checksum);
	const char *bytes = (const char *) b;
	uint32_t sum = orr_crc32(crc, 0, bytes, field);

	return orr_crc32(crc, sum, bytes + field + sizeof(b->checksum),
			 size - field - sizeof(b->checksum));
}

/* Reads a block, sets its checksum, there and here, and returns its head; NULL with errno set. Of
 * one that has its checksum, the head alone. */
static const struct orr_trace_block *seal_block(struct orr_trace_file *f, struct index *x,
						uint64_t at)
{
	const size_t field = offsetof(struct orr_trace_block, checksum), size = f->head->block;
	struct orr_trace_block *b = (void *) x->block;
	size_t number = at / size;

	if (number < f->nheads && f->heads[number].checksum)
		return &f->heads[number];
	errno = EIO;
	if (pread(f->fd, b, sizeof(*b), (off_t) at) != (ssize_t) sizeof(*b))
		return NULL;
	if (b->magic != ORR_TRACE_BLOCK_MAGIC ||
	    (b->checksum && !(f->head->flags & ORR_TRACE_LIMITED)))
		return b;
	errno = EIO;
	if (pread(f->fd, b, size, (off_t) at) != (ssize_t) size)
		return NULL;
	b->checksum = checksum_of(&f->crc, b, size);
	return pwrite(f->fd, &b->checksum, sizeof(b->checksum), (off_t) (at + field)) ==
			       sizeof(b->checksum)
		       ? b
		       : NULL;
}

/* The last bytes of the file, and what its head says from now on. */
static int write_end(struct orr_trace_file *f, struct index *x, uint64_t nindex)
{
	struct orr_trace_end end = { .index = x->sum };
	struct orr_trace_head head = *f->head;

	memcpy(end.magic, ORR_TRACE_END_MAGIC, sizeof(end.magic)); /* without the 0 behind it */
	head.nindex = nindex;
	head.flags |= ORR_TRACE_CLOSED;
	end.head = orr_crc32(&f->crc, 0, &head, sizeof(head));
	end.head = orr_crc32(&f->crc, end.head, f->head + 1, ORR_TRACE_BLOCK - sizeof(head));

	int err = write_all(f->fd, &end, sizeof(end));

	if (!err) {
		f->head->nindex = head.nindex;
		f->head->flags = head.flags;
	}
	return err;
}

static int write_entries(struct orr_trace_file *f, struct index *x)
{
	uint64_t end = f->head->end, nblocks = end / f->head->block;
	size_t n = 0;

	if (ftruncate(f->fd, (off_t) end) || lseek(f->fd, (off_t) end, SEEK_SET) < 0)
		return errno;
	for (uint64_t i = 1; i < nblocks; i++) {
		const struct orr_trace_block *b = seal_block(f, x, i * f->head->block);

		if (!b)
			return errno;
		x->entry[n++] = *b;
		if (n < sizeof(x->entry) / sizeof(x->entry[0]) && i + 1 < nblocks)
			continue;
		x->sum = orr_crc32(&f->crc, x->sum, x->entry, n * sizeof(x->entry[0]));
		int err = write_all(f->fd, x->entry, n * sizeof(x->entry[0]));
		if (err)
			return err;
		n = 0;
	}
	return write_end(f, x, nblocks - 1);
}

/* Behind the last block: the heads of all blocks, with their checksums, and their own. */
static int write_index(struct orr_trace_file *f)
{
	struct index *x = calloc(1, sizeof(*x) + f->head->block);
	int err = ENOMEM;

	if (x) {
		err = write_entries(f, x);
	}
	free(x);
	return err;
}

int orr_trace_file_leave(struct orr_trace_file *f)
{
	int err = 0, last;

	orr_assert(f->nusers && f->fd >= 0);
	int locked = orr_private_lock(f->fd);
	if (--f->nusers == 0 && f->chunk) {
		orr_trace_file_put(f, f->chunk);
		f->chunk = NULL;
	}
	last = --f->head->nopen == 0;
	if (last)
		err = locked ? -locked : write_index(f);
	flock(f->fd, LOCK_UN);
	if (err)
		trace_file_tell(f, "has no index, which is made when it is read", err);
	if (f->nusers)
		return last;
	if (f->head->flags & ORR_TRACE_LIMITED)
		orr_trace_room_exit(&f->room);
	munmap(f->head, ORR_TRACE_BLOCK);
	close(f->fd);
	free(f->heads);
	f->heads = NULL;
	f->nheads = 0;
	f->head = NULL;
	f->fd = -1;
	return last;
}

/* ---- blocks ---- */

/* Room for more blocks, allocated and mapped; NULL with errno set. */
static struct orr_trace_chunk *map_chunk(struct orr_trace_file *f)
{
	struct orr_trace_chunk *c = calloc(1, sizeof(*c));
	size_t bytes = f->chunk_bytes;

	if (!c)
		return NULL;
	uint64_t at = ORR_ATOMIC_ADD(&f->head->end, bytes) - bytes;
	int err = posix_fallocate(f->fd, (off_t) at, (off_t) bytes);
	size_t before = at & ((uint64_t) sysconf(_SC_PAGESIZE) - 1); /* blocks end within a page */
	char *base = err ? MAP_FAILED
			 : mmap(NULL, before + bytes, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_POPULATE, f->fd, (off_t) (at - before));
	if (base == MAP_FAILED) {
		free(c);
		errno = err ? err : errno;
		return NULL;
	}
	*c = (struct orr_trace_chunk){
		.base = base + before, .bytes = bytes, .before = before, .nused = 1
	};
	if (f->chunk_bytes < CHUNK_MOST)
		f->chunk_bytes *= 2;
	return c;
}

static void put(struct orr_trace_chunk *c)
{
	orr_assert(c->nused);
	if (--c->nused)
		return;
	munmap(c->base - c->before, c->before + c->bytes);
	free(c);
}

/* Blocks of a chunk, as many as it has of *n; NULL with errno set. */
static struct orr_trace_block *chunk_blocks(struct orr_trace_file *f, uint32_t *n,
					    struct orr_trace_chunk **chunk)
{
	if (f->chunk && f->chunk->used == f->chunk->bytes) {
		put(f->chunk);
		f->chunk = NULL;
	}
	if (!f->chunk)
		f->chunk = map_chunk(f);
	if (!f->chunk)
		return NULL;
	struct orr_trace_block *b = (void *) (f->chunk->base + f->chunk->used);
	size_t most = (f->chunk->bytes - f->chunk->used) / ORR_TRACE_BLOCK;

	*n = *n < most ? *n : (uint32_t) most;
	f->chunk->used += (size_t) *n * ORR_TRACE_BLOCK;
	f->chunk->nused++;
	*chunk = f->chunk;
	return b;
}

/* Nothing more is recorded. Returns whether this caller is the first who notices. */
static int set_full(struct orr_trace_file *f)
{
	int first = !f->full;

	f->full = 1;
	ORR_ATOMIC_OR(&f->head->flags, ORR_TRACE_FULL);
	return first;
}

/* Keeps the heads of blocks that are at that place of the file now, if there is memory. */
static void keep_heads(struct orr_trace_file *f, const struct orr_trace_block *blocks, uint32_t n,
		       uint64_t at)
{
	size_t first = at / ORR_TRACE_BLOCK, more;

	orr_lock(&f->lock);
	more = f->nheads ? f->nheads : 1024;
	while (more < first + n)
		more *= 2;
	if (more > f->nheads && more <= MOST_HEADS) {
		struct orr_trace_block *p = realloc(f->heads, more * sizeof(*p));

		if (p) {
			memset(p + f->nheads, 0, (more - f->nheads) * sizeof(*p));
			f->heads = p;
			f->nheads = more;
		}
	}
	for (uint32_t i = 0; i < n && first + i < f->nheads; i++)
		f->heads[first + i] = *(const struct orr_trace_block *) ((const char *) blocks +
									 (size_t) i *
										 ORR_TRACE_BLOCK);
	orr_unlock(&f->lock);
}

int orr_trace_file_append(struct orr_trace_file *f, struct orr_trace_block *blocks, uint32_t n)
{
	size_t bytes = (size_t) n * ORR_TRACE_BLOCK, done = 0;
	int err = 0;

	for (size_t i = 0; i < bytes; i += ORR_TRACE_BLOCK) {
		struct orr_trace_block *b = (void *) ((char *) blocks + i);

		b->checksum = checksum_of(&f->crc, b, ORR_TRACE_BLOCK);
	}
	uint64_t at = ORR_ATOMIC_ADD(&f->head->end, bytes) - bytes;
	while (done < bytes && !err) {
		ssize_t wrote = pwrite(f->fd, (char *) blocks + done, bytes - done,
				       (off_t) (at + done));

		if (wrote > 0)
			done += (size_t) wrote;
		else if (!wrote || errno != EINTR)
			err = wrote ? errno : ENOSPC;
	}
	if (!err) {
		keep_heads(f, blocks, n, at);
		return 0;
	}
	orr_lock(&f->lock);
	int first = set_full(f);
	orr_unlock(&f->lock);
	if (first)
		trace_file_tell(f, NO_ROOM, err);
	return err;
}

struct orr_trace_block *orr_trace_file_blocks(struct orr_trace_file *f, uint32_t *n,
					      struct orr_trace_chunk **chunk)
{
	struct orr_trace_block *b = NULL;
	int err = 0;

	*chunk = NULL;
	orr_lock(&f->lock);
	if (!f->full) {
		int limited = f->head->flags & ORR_TRACE_LIMITED;

		*n = limited ? 1 : *n;
		b = limited ? orr_trace_room_block(&f->room, f->nusers) : chunk_blocks(f, n, chunk);
		err = b ? 0 : errno;
	}
	if (err)
		set_full(f);
	orr_unlock(&f->lock);
	if (err == EFBIG)
		orr_error(
			"ORRERY_TRACE_LIMIT: '%s' has no room for more within its limit, and nothing more is recorded; raise the limit (--trace-limit)",
			f->path);
	else if (err)
		trace_file_tell(f, NO_ROOM, err);
	return b;
}

void orr_trace_file_put(struct orr_trace_file *f, struct orr_trace_chunk *chunk)
{
	if (!chunk)
		return;
	orr_lock(&f->lock);
	put(chunk);
	orr_unlock(&f->lock);
}
