/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of checkpoints: one for each rank and instance, in the folder ORRERY_CHECKPOINT_DIR.
 *
 * A file is a header, which is written last, and records one behind the other: what it is, its
 * size, a checksum, and the bytes. While it is written its name ends in .part.
 *
 * Invariant: a file under its final name is whole. */
#include "mpi/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static const char magic[8] = "ORRCKP1";

static uint64_t hash_of(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = size, word;

	for (; size >= sizeof(word); p += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = orr_mix64(h ^ word);
	}
	for (; size; size--)
		h = orr_mix64(h ^ *p++);
	return h;
}

/* Two programs, or two ways of running one, have different templates. */
static uint64_t shape_of(const struct _starpu_mpi_checkpoint_template *t)
{
	uint64_t h = orr_mix64(((uint64_t) (uint32_t) t->mpi->size << 32) | t->n);

	for (unsigned k = 0; k < t->n; k++)
		h = orr_mix64(h ^ (t->v[k].is_value ? t->v[k].size + 1 : 0));
	return h;
}

static void name_of(const struct _starpu_mpi_checkpoint_template *t, uint32_t number,
		    const char *suffix, char *path, size_t size)
{
	snprintf(path, size, "%s/d%d-t%d-r%d-i%" PRIu32 "%s", t->mpi->checkpoints->dir, t->domain,
		 t->id, t->mpi->rank, number, suffix);
}

static int complain(const struct _starpu_mpi_checkpoint_template *t, uint32_t number,
		    const char *what)
{
	int error = errno ? errno : EIO;

	orr_error("checkpoint %" PRIu32 " cannot be %s in %s (ORRERY_CHECKPOINT_DIR): %s", number,
		  what, t->mpi->checkpoints->dir, strerror(error));
	return -error;
}

/* All of it at that place. 0, or -1 with errno. */
static int write_at(int fd, const void *data, size_t size, int64_t at)
{
	const char *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, at);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			p += n;
			at += n;
			size -= (size_t) n;
		}
	}
	return 0;
}

static int read_at(int fd, void *data, size_t size, int64_t at)
{
	char *p = data;

	while (size) {
		ssize_t n = pread(fd, p, size, at);
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

/* The mark of a rank that came so far as to look for checkpoints. */
static void name_of_mark(const struct _starpu_mpi_checkpoint_template *t, char *path, size_t size)
{
	snprintf(path, size, "%s/d%d-t%d-r%d-mark", t->mpi->checkpoints->dir, t->domain, t->id,
		 t->mpi->rank);
}

int orr_cp_file_marked(const struct _starpu_mpi_checkpoint_template *t)
{
	char path[PATH_MAX];

	name_of_mark(t, path, sizeof(path));
	return !access(path, F_OK);
}

int orr_cp_file_mark(const struct _starpu_mpi_checkpoint_template *t)
{
	char path[PATH_MAX];

	name_of_mark(t, path, sizeof(path));
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	return fd < 0 ? complain(t, 1, "written") : close(fd);
}

void orr_cp_file_unmark(const struct _starpu_mpi_checkpoint_template *t)
{
	char path[PATH_MAX];

	name_of_mark(t, path, sizeof(path));
	unlink(path);
}

int orr_cp_file_begin(struct orr_cp_instance *inst)
{
	char path[PATH_MAX];

	name_of(inst->t, inst->number, ".part", path, sizeof(path));
	inst->end = sizeof(struct orr_cp_file_header);
	inst->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return inst->fd < 0 ? complain(inst->t, inst->number, "written") : 0;
}

int orr_cp_file_add(struct orr_cp_instance *inst, unsigned k, int source, const void *data,
		    size_t size)
{
	struct orr_cp_record record = {
		.k = k, .source = (uint32_t) source, .size = size, .hash = hash_of(data, size)
	};
	int64_t n = (int64_t) (sizeof(record) + size), at = ORR_ATOMIC_ADD(&inst->end, n) - n;

	if (write_at(inst->fd, &record, sizeof(record), at) ||
	    write_at(inst->fd, data, size, at + (int64_t) sizeof(record)))
		return complain(inst->t, inst->number, "written");
	ORR_ATOMIC_ADD(&inst->nrecords, 1);
	ORR_ATOMIC_ADD(&inst->t->mpi->checkpoints->bytes_saved, size);
	return 0;
}

int orr_cp_file_end(struct orr_cp_instance *inst)
{
	struct _starpu_mpi_checkpoint_template *t = inst->t;
	struct orr_cp_file_header header = { .rank = (uint32_t) t->mpi->rank,
					     .size = (uint32_t) t->mpi->size,
					     .number = inst->number,
					     .nrecords = inst->nrecords,
					     .id = t->id,
					     .domain = t->domain,
					     .shape = shape_of(t),
					     .end = (uint64_t) inst->end };
	char from[PATH_MAX], to[PATH_MAX];
	int fd = inst->fd, bad;

	memcpy(header.magic, magic, sizeof(magic));
	name_of(t, inst->number, ".part", from, sizeof(from));
	name_of(t, inst->number, "", to, sizeof(to));
	bad = write_at(fd, &header, sizeof(header), 0) || fdatasync(fd);
	bad |= close(fd);
	inst->fd = -1;
	if (inst->failed)
		return -EIO;
	bad = bad || rename(from, to);
	/* A later instance may be complete before this rank's part of this one is: its file is of
	 * no use then, and may be gone already. */
	int error = errno;
	ORR_ATOMIC_FENCE();
	if (inst->number <= ORR_ATOMIC_LOAD(&t->removed)) {
		unlink(to);
		return 0;
	}
	errno = error;
	return bad ? complain(t, inst->number, "written") : 0;
}

void orr_cp_file_remove(struct _starpu_mpi_checkpoint_template *t, uint32_t from, uint32_t to)
{
	char path[PATH_MAX];

	for (uint32_t number = from; number && number <= to; number++) {
		name_of(t, number, "", path, sizeof(path));
		unlink(path);
		name_of(t, number, ".part", path, sizeof(path));
		unlink(path);
	}
}

/* True if the file of this rank and instance is there, whole, and of this program. */
static int is_ours(struct _starpu_mpi_checkpoint_template *t, uint32_t number)
{
	struct orr_cp_file_header header;
	int fd = orr_cp_file_open(t, number), ours;
	struct stat st;

	if (fd < 0)
		return 0;
	ours = !read_at(fd, &header, sizeof(header), 0) &&
	       !memcmp(header.magic, magic, sizeof(magic)) && !fstat(fd, &st) &&
	       (uint64_t) st.st_size == header.end;
	close(fd);
	if (ours && header.shape != shape_of(t))
		orr_fatal(
			"%s holds checkpoints of another program, or of one with another number of ranks (%u): give ORRERY_CHECKPOINT_DIR another folder, or remove this one",
			t->mpi->checkpoints->dir, header.size);
	return ours;
}

int orr_cp_file_find(struct _starpu_mpi_checkpoint_template *t, uint32_t *first, uint32_t *last)
{
	int seen = 0;
	char prefix[64];
	DIR *dir = opendir(t->mpi->checkpoints->dir);
	struct dirent *entry;

	*first = *last = 0;
	snprintf(prefix, sizeof(prefix), "d%d-t%d-r%d-i", t->domain, t->id, t->mpi->rank);
	while (dir && (entry = readdir(dir))) {
		uint32_t number;
		char more;
		if (strncmp(entry->d_name, prefix, strlen(prefix)) ||
		    sscanf(entry->d_name + strlen(prefix), "%" SCNu32 "%c", &number, &more) != 1)
			continue;
		seen = 1;
		if (!is_ours(t, number))
			continue;
		if (number > *last)
			*last = number;
		if (!*first || number < *first)
			*first = number;
	}
	if (dir)
		closedir(dir);
	return seen;
}

int orr_cp_file_open(struct _starpu_mpi_checkpoint_template *t, uint32_t number)
{
	char path[PATH_MAX];

	name_of(t, number, "", path, sizeof(path));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void *orr_cp_file_get(struct _starpu_mpi_checkpoint_template *t, int fd, unsigned k, int source,
		      size_t *size)
{
	struct orr_cp_file_header header;
	struct orr_cp_record record;
	int64_t at = sizeof(header);

	if (read_at(fd, &header, sizeof(header), 0))
		goto broken;
	for (uint32_t i = 0; i < header.nrecords; i++) {
		if (read_at(fd, &record, sizeof(record), at))
			goto broken;
		at += (int64_t) sizeof(record);
		if (record.k == k && record.source == (uint32_t) source) {
			void *data = malloc(record.size ? record.size : 1);
			if (data && !read_at(fd, data, record.size, at) &&
			    hash_of(data, record.size) == record.hash) {
				*size = record.size;
				return data;
			}
			free(data);
			goto broken;
		}
		at += (int64_t) record.size;
	}
	orr_error("rank %d: the checkpoint in %s does not hold entry %u of rank %d", t->mpi->rank,
		  t->mpi->checkpoints->dir, k, source);
	return NULL;
broken:
	orr_error("rank %d: the checkpoint in %s is damaged: remove it to start anew", t->mpi->rank,
		  t->mpi->checkpoints->dir);
	return NULL;
}
