/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of checkpoints: one for each rank and instance, in the folder ORRERY_CHECKPOINT_DIR.
 *
 * A file is a header, which is written last, and records one behind the other: what it is, its
 * size, a checksum, and the bytes. While it is written its name ends in .part. Checksums cover
 * every byte, and the header says what the name says.
 *
 * Invariant: a file under its final name is whole; one that is not, or that is another program's,
 * is named in a message and never taken for absent. */
#include "mpi/checkpoint/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static const char magic[8] = "ORRCKP2";

enum { PIECE = 1 << 20, NAME = 64 };

/* ---- checksums ---- */

/* All pieces but the last one have a multiple of eight bytes. */
static uint64_t hash_more(uint64_t h, const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t word;

	for (; size >= sizeof(word); p += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = orr_mix64(h ^ word);
	}
	for (; size; size--)
		h = orr_mix64(h ^ *p++);
	return h;
}

uint64_t orr_cp_hash(const void *data, size_t size)
{
	return hash_more(size, data, size);
}

/* Of a record: where the hash of its bytes begins. */
static uint64_t hash_of_head(uint32_t k, uint32_t source, uint64_t size)
{
	return orr_mix64(((uint64_t) k << 32 | source) ^ orr_mix64(size));
}

static uint64_t hash_of_place(const struct orr_cp_record *record, int64_t at)
{
	return orr_mix64(record->hash ^ orr_mix64((uint64_t) at));
}

static uint64_t sum_of_header(const struct orr_cp_file_header *header)
{
	struct orr_cp_file_header copy = *header;

	copy.sum = 0;
	return orr_cp_hash(&copy, sizeof(copy));
}

/* Two ways of running a program have different templates: other data, or data of other sizes. */
static uint64_t shape_of(const struct _starpu_mpi_checkpoint_template *t)
{
	uint64_t h = orr_mix64(t->n);

	for (unsigned k = 0; k < t->n; k++) {
		const struct orr_cp_entry *e = &t->v[k];
		size_t size = e->is_value ? e->size
			      : e->handle ? starpu_data_get_size(e->handle)
					  : 0;
		h = orr_mix64(h ^ (2 * (uint64_t) size + (uint64_t) e->is_value));
	}
	return h;
}

/* ---- names and messages ---- */

static void name_of(const struct _starpu_mpi_checkpoint_template *t, uint32_t number,
		    const char *suffix, char name[NAME])
{
	snprintf(name, NAME, "d%d-t%d-r%d-i%" PRIu32 "%s", t->domain, t->id, t->mpi->rank, number,
		 suffix);
}

static int complain(const struct _starpu_mpi_checkpoint_template *t, uint32_t number, int error,
		    const char *what)
{
	int ret = error ? -error : -EIO;

	orr_error("checkpoint %" PRIu32 " cannot be %s in %s (ORRERY_CHECKPOINT_DIR): %s", number,
		  what, t->mpi->guests.checkpoints->dir, orr_cp_why(ret));
	return ret;
}

/* Writes or reads all of it at that place. 0, or -1 with errno; errno 0: the file ends before. */
static int transfer_at(int fd, char *p, size_t size, int64_t at, int writes)
{
	while (size) {
		ssize_t n = writes ? pwrite(fd, p, size, at) : pread(fd, p, size, at);
		if (n == 0)
			errno = 0;
		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
		if (n > 0) {
			p += n;
			at += n;
			size -= (size_t) n;
		}
	}
	return 0;
}

static int write_at(int fd, const void *data, size_t size, int64_t at)
{
	return transfer_at(fd, (char *) (uintptr_t) data, size, at, 1);
}

static int read_at(int fd, void *data, size_t size, int64_t at)
{
	return transfer_at(fd, data, size, at, 0);
}

/* The mark of a rank that came so far as to look for checkpoints, and has saved none yet. */
static void name_of_mark(const struct _starpu_mpi_checkpoint_template *t, char name[NAME])
{
	snprintf(name, NAME, "d%d-t%d-r%d-mark", t->domain, t->id, t->mpi->rank);
}

int orr_cp_file_marked(const struct _starpu_mpi_checkpoint_template *t)
{
	char name[NAME];
	struct stat st;
	int folder = orr_cp_folder(t->mpi->guests.checkpoints);

	if (folder < 0)
		return 0;
	name_of_mark(t, name);
	int there = !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW);
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
	return there;
}

int orr_cp_file_mark(struct _starpu_mpi_checkpoint_template *t)
{
	char name[NAME];
	int folder = orr_cp_folder(t->mpi->guests.checkpoints);

	if (folder < 0)
		return folder;
	name_of_mark(t, name);
	int fd = orr_cp_file_at(folder, name, O_WRONLY | O_CREAT);
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
	if (fd < 0)
		return complain(t, 1, -fd, "begun");
	ORR_ATOMIC_STORE(&t->marked, 1);
	return close(fd) ? complain(t, 1, errno, "begun") : 0;
}

void orr_cp_file_unmark(const struct _starpu_mpi_checkpoint_template *t)
{
	char name[NAME];
	int folder = orr_cp_folder(t->mpi->guests.checkpoints);

	if (folder < 0)
		return;
	name_of_mark(t, name);
	unlinkat(folder, name, 0);
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
}

/* ---- writing ---- */

int orr_cp_file_begin(struct orr_cp_instance *inst)
{
	char name[NAME];
	int folder = orr_cp_folder(inst->t->mpi->guests.checkpoints);

	if (folder < 0)
		return folder;
	name_of(inst->t, inst->number, ".part", name);
	inst->end = sizeof(struct orr_cp_file_header);
	int fd = orr_cp_file_at(folder, name, O_WRONLY | O_CREAT | O_EXCL);
	if (fd == -EEXIST) { /* of a run that was killed */
		unlinkat(folder, name, 0);
		fd = orr_cp_file_at(folder, name, O_WRONLY | O_CREAT | O_EXCL);
	}
	orr_cp_folder_done(inst->t->mpi->guests.checkpoints, folder);
	inst->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? complain(inst->t, inst->number, -fd, "written") : 0;
}

int orr_cp_file_add(struct orr_cp_instance *inst, unsigned k, int source, const void *data,
		    size_t size)
{
	struct orr_cp_record record = { .k = k, .source = (uint32_t) source, .size = size };
	int64_t n = (int64_t) (sizeof(record) + size), at = ORR_ATOMIC_ADD(&inst->end, n) - n;

	record.hash = hash_more(hash_of_head(k, record.source, size), data, size);
	if (write_at(inst->fd, &record, sizeof(record), at) ||
	    write_at(inst->fd, data, size, at + (int64_t) sizeof(record)))
		return complain(inst->t, inst->number, errno, "written");
	ORR_ATOMIC_ADD(&inst->records, hash_of_place(&record, at));
	ORR_ATOMIC_ADD(&inst->nrecords, 1);
	ORR_ATOMIC_ADD(&inst->saved, size);
	ORR_ATOMIC_ADD(&inst->t->mpi->guests.checkpoints->bytes_saved, size);
	return 0;
}

static void fill_header(const struct orr_cp_instance *inst, struct orr_cp_file_header *header)
{
	const struct _starpu_mpi_checkpoint_template *t = inst->t;
	const struct orr_cp_identity *me = &t->mpi->guests.checkpoints->me;

	*header = (struct orr_cp_file_header){ .rank = (uint32_t) t->mpi->rank,
					       .size = (uint32_t) t->mpi->size,
					       .number = inst->number,
					       .nrecords = inst->nrecords,
					       .id = t->id,
					       .domain = t->domain,
					       .shape = shape_of(t),
					       .program = me->program,
					       .arguments = me->arguments,
					       .end = (uint64_t) inst->end,
					       .records = inst->records };
	memcpy(header->magic, magic, sizeof(magic));
	memcpy(header->command, me->command, sizeof(me->command));
	header->sum = sum_of_header(header);
}

int orr_cp_file_end(struct orr_cp_instance *inst)
{
	struct _starpu_mpi_checkpoint_template *t = inst->t;
	struct orr_cp_file_header header;
	char from[NAME], to[NAME];
	int folder = orr_cp_folder(t->mpi->guests.checkpoints), fd = inst->fd, bad;

	fill_header(inst, &header);
	name_of(t, inst->number, ".part", from);
	name_of(t, inst->number, "", to);
	bad = write_at(fd, &header, sizeof(header), 0) || fdatasync(fd);
	int error = bad ? errno : 0;
	if (close(fd) && !bad) {
		bad = 1;
		error = errno;
	}
	inst->fd = -1;
	if (inst->failed || folder < 0) {
		orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
		return -EIO;
	}
	if (!bad && renameat(folder, from, folder, to)) {
		bad = 1;
		error = errno;
	}
	/* A later instance may be complete before this rank's part of this one is: its file is of
	 * no use then, and may be gone already. */
	ORR_ATOMIC_FENCE();
	int late = inst->number <= ORR_ATOMIC_LOAD(&t->removed);
	if (late)
		unlinkat(folder, to, 0);
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
	if (!bad && ORR_ATOMIC_XCHG(&t->marked, 0))
		orr_cp_file_unmark(t);
	return bad && !late ? complain(t, inst->number, error, "written") : 0;
}

/* ---- what is there ---- */

/* The number in the name of a whole file of this rank, 0: it is none. */
static uint32_t number_of(const struct _starpu_mpi_checkpoint_template *t, const char *entry)
{
	char name[NAME];
	const char *digits = strrchr(entry, 'i');
	unsigned long number = digits ? strtoul(digits + 1, NULL, 10) : 0;

	if (!number || number > UINT32_MAX)
		return 0;
	name_of(t, (uint32_t) number, "", name);
	return strcmp(name, entry) ? 0 : (uint32_t) number;
}

/* Calls f for each whole file of this rank. 0, or -errno after a message. */
static int each_file(struct _starpu_mpi_checkpoint_template *t,
		     void (*f)(struct _starpu_mpi_checkpoint_template *t, int folder,
			       uint32_t number, void *arg),
		     void *arg)
{
	int folder = orr_cp_folder(t->mpi->guests.checkpoints);
	int own = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own); /* which is read from its begin, and closed */
	int error = errno;
	struct dirent *entry;

	if (folder < 0)
		return folder;
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
	if (!dir) {
		if (own >= 0)
			close(own);
		return complain(t, 0, error, "looked for");
	}
	while ((entry = readdir(dir))) {
		uint32_t number = number_of(t, entry->d_name);
		if (number)
			f(t, own, number, arg);
	}
	closedir(dir);
	return 0;
}

struct range {
	uint32_t from, to;
};

static void remove_number(struct _starpu_mpi_checkpoint_template *t, int folder, uint32_t number)
{
	char name[NAME];

	name_of(t, number, "", name);
	unlinkat(folder, name, 0);
	name_of(t, number, ".part", name);
	unlinkat(folder, name, 0);
}

static void remove_if(struct _starpu_mpi_checkpoint_template *t, int folder, uint32_t number,
		      void *arg)
{
	const struct range *range = arg;

	if (number >= range->from && number <= range->to)
		remove_number(t, folder, number);
}

/* The numbers of a run follow one another; those that were found in the folder may be any. */
void orr_cp_file_remove(struct _starpu_mpi_checkpoint_template *t, uint32_t from, uint32_t to)
{
	struct range range = { from, to };
	enum { MANY = 64 };

	if (!from || from > to)
		return;
	if (to - from >= MANY) {
		each_file(t, remove_if, &range);
		from = to - MANY;
	}
	int folder = orr_cp_folder(t->mpi->guests.checkpoints);
	if (folder < 0)
		return;
	for (uint64_t number = from; number <= to; number++)
		remove_number(t, folder, (uint32_t) number);
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
}

/* ---- reading ---- */

/* NULL, or what is wrong with a file that has that header. */
static const char *check_header(const struct _starpu_mpi_checkpoint_template *t, uint32_t number,
				const struct orr_cp_file_header *h, uint64_t bytes)
{
	if (memcmp(h->magic, magic, sizeof(magic)))
		return "it does not begin as a checkpoint does";
	if (h->sum != sum_of_header(h))
		return "the checksum of its header is wrong";
	if (h->end != bytes)
		return "it has another length than its header says";
	if (h->rank != (uint32_t) t->mpi->rank || h->number != number || h->id != t->id ||
	    h->domain != t->domain)
		return "it was another checkpoint before somebody gave it this name";
	return NULL;
}

/* Reads the heads of all records. NULL, or what is wrong. */
static const char *read_records(int fd, const struct orr_cp_file_header *h,
				struct orr_cp_index *index)
{
	int64_t at = sizeof(*h), end = (int64_t) h->end;
	uint64_t records = 0;

	if (h->nrecords > ((uint64_t) end - sizeof(*h)) / sizeof(struct orr_cp_record))
		return "it has more records than there is room for";
	index->v = malloc(((size_t) h->nrecords + 1) * sizeof(*index->v));
	if (!index->v)
		return "there is no memory for its index";
	for (; index->n < h->nrecords; index->n++) {
		struct orr_cp_place *p = &index->v[index->n];
		if (read_at(fd, &p->record, sizeof(p->record), at))
			return "it ends in the middle of a record";
		records += hash_of_place(&p->record, at);
		p->at = at + (int64_t) sizeof(p->record);
		if (p->record.size > (uint64_t) (end - p->at))
			return "a record is longer than the file";
		at = p->at + (int64_t) p->record.size;
	}
	if (at != end || records != h->records)
		return "its records are not those that its header tells of";
	return NULL;
}

static const char *check_bytes(int fd, const struct orr_cp_index *index)
{
	unsigned char *piece = malloc(PIECE);
	const char *wrong = piece ? NULL : "there is no memory to read it";

	for (uint32_t i = 0; i < index->n && !wrong; i++) {
		const struct orr_cp_record *r = &index->v[i].record;
		uint64_t h = hash_of_head(r->k, r->source, r->size);
		for (uint64_t done = 0, n; done < r->size && !wrong; done += n) {
			n = r->size - done < PIECE ? r->size - done : PIECE;
			if (read_at(fd, piece, n, index->v[i].at + (int64_t) done))
				wrong = "it cannot be read to its end";
			else
				h = hash_more(h, piece, n);
		}
		if (!wrong && h != r->hash)
			wrong = "the checksum of a record is wrong";
	}
	free(piece);
	return wrong;
}

/* NULL, or what tells that the file is of another run than this one may go on with. */
static const char *check_identity(const struct _starpu_mpi_checkpoint_template *t,
				  const struct orr_cp_file_header *h)
{
	const struct orr_checkpoints *cp = t->mpi->guests.checkpoints;

	if (h->size != (uint32_t) t->mpi->size)
		return "one with another number of ranks";
	if (h->shape != shape_of(t))
		return "one whose data have other sizes";
	if (cp->any_program)
		return NULL;
	if (h->program != cp->me.program)
		return "another program";
	return h->arguments != cp->me.arguments ? "a run with other arguments" : NULL;
}

enum verdict { WHOLE, DAMAGED, FOREIGN };

/* Reads a file: only what it holds, or all of it (`bytes`). Says what is wrong with it. */
static enum verdict read_file(struct _starpu_mpi_checkpoint_template *t, int folder,
			      uint32_t number, int bytes, struct orr_cp_index *index)
{
	const char *dir = t->mpi->guests.checkpoints->dir, *wrong = NULL, *other = NULL;
	struct orr_cp_file_header header = { .size = 0 };
	struct stat st;
	char name[NAME];

	name_of(t, number, "", name);
	*index = (struct orr_cp_index){ .fd = orr_cp_file_at(folder, name, O_RDONLY) };
	if (index->fd < 0)
		wrong = orr_cp_why(index->fd);
	else if (fstat(index->fd, &st) || read_at(index->fd, &header, sizeof(header), 0))
		wrong = "it is shorter than a header";
	else
		wrong = check_header(t, number, &header, (uint64_t) st.st_size);
	if (!wrong)
		other = check_identity(t, &header);
	if (!wrong && !other)
		wrong = read_records(index->fd, &header, index);
	if (!wrong && !other && bytes)
		wrong = check_bytes(index->fd, index);
	if (!wrong && !other)
		return WHOLE;
	orr_cp_file_close(index);
	if (wrong)
		orr_error("rank %d: the checkpoint %s/%s is damaged: %s", t->mpi->rank, dir, name,
			  wrong);
	else
		orr_error(
			"%s/%s is a checkpoint of %s (`%.*s` on %u ranks; this is `%s` on %d): give ORRERY_CHECKPOINT_DIR another folder, or remove this one%s",
			dir, name, other, (int) sizeof(header.command), header.command, header.size,
			t->mpi->guests.checkpoints->me.command, t->mpi->size,
			strstr(other, "program") || strstr(other, "arguments")
				? "; ORRERY_CHECKPOINT_ANY_PROGRAM=1 takes it all the same"
				: "");
	return wrong ? DAMAGED : FOREIGN;
}

static void look_at(struct _starpu_mpi_checkpoint_template *t, int folder, uint32_t number,
		    void *arg)
{
	struct orr_cp_found *found = arg;
	struct orr_cp_index index;
	enum verdict verdict = read_file(t, folder, number, 1, &index);

	found->seen = 1;
	found->damaged += verdict == DAMAGED;
	found->foreign += verdict == FOREIGN;
	if (verdict != WHOLE)
		return;
	orr_cp_file_close(&index);
	if (number > found->last)
		found->last = number;
	if (!found->first || number < found->first)
		found->first = number;
}

int orr_cp_file_find(struct _starpu_mpi_checkpoint_template *t, struct orr_cp_found *found)
{
	*found = (struct orr_cp_found){ 0 };
	return each_file(t, look_at, found);
}

int orr_cp_file_open(struct _starpu_mpi_checkpoint_template *t, uint32_t number,
		     struct orr_cp_index *index)
{
	int folder = orr_cp_folder(t->mpi->guests.checkpoints);

	*index = (struct orr_cp_index){ .fd = -1 };
	if (folder < 0)
		return folder;
	enum verdict verdict = read_file(t, folder, number, 0, index);
	orr_cp_folder_done(t->mpi->guests.checkpoints, folder);
	return verdict == WHOLE ? 0 : -EIO;
}

void orr_cp_file_close(struct orr_cp_index *index)
{
	if (index->fd >= 0)
		close(index->fd);
	free(index->v);
	*index = (struct orr_cp_index){ .fd = -1 };
}

const struct orr_cp_place *orr_cp_file_place(const struct orr_cp_index *index, unsigned k,
					     int source)
{
	for (uint32_t i = 0; i < index->n; i++)
		if (index->v[i].record.k == k && index->v[i].record.source == (uint32_t) source)
			return &index->v[i];
	return NULL;
}

void *orr_cp_file_get(struct _starpu_mpi_checkpoint_template *t, const struct orr_cp_index *index,
		      unsigned k, int source, size_t *size)
{
	const struct orr_cp_place *p = orr_cp_file_place(index, k, source);

	if (!p) {
		orr_error("rank %d: the checkpoint in %s does not hold entry %u of rank %d",
			  t->mpi->rank, t->mpi->guests.checkpoints->dir, k, source);
		return NULL;
	}
	const struct orr_cp_record *r = &p->record;
	void *data = malloc(r->size ? r->size : 1);
	if (data && !read_at(index->fd, data, r->size, p->at) &&
	    hash_more(hash_of_head(r->k, r->source, r->size), data, r->size) == r->hash) {
		*size = r->size;
		return data;
	}
	free(data);
	orr_error("rank %d: entry %u of the checkpoint in %s %s", t->mpi->rank, k,
		  t->mpi->guests.checkpoints->dir,
		  data ? "changed while it was read" : "needs more memory than there is");
	return NULL;
}
