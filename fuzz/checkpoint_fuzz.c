/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of checkpoints. The first byte of the input says what happens to the rest of it:
 *
 *     r    it is the file
 *     s    it is the file, and gets a header that agrees with it
 *     w    it is saved as records of a program; then one byte of the file is changed: the first
 *          three bytes say which and how, the fourth how many records, then two bytes for each
 *
 * A file is either taken as whole, and then all of its records can be read, or it is named in a
 * message. A changed byte is always noticed, and values come back as they were saved. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "mpi/checkpoint/checkpoint.h"
#include "fuzz.h"

enum { NUMBER = 7, VALUES = 3, MOST = 7 };

static struct orr_cp_file_header written; /* what the library writes before no record */
static struct orr_checkpoints cp;
static struct orr_mpi mpi = { .size = 2, .guests.checkpoints = &cp };
static struct orr_cp_entry entries[VALUES];
static struct _starpu_mpi_checkpoint_template t = { .mpi = &mpi, .v = entries, .n = VALUES };

static void path_of(char path[1024])
{
	fuzz_path(path, 1024, "d0-t0-r0-i7");
}

/* Records that the library writes: two bytes of the head and a part of the bytes for each. */
static void save(const uint8_t *head, unsigned n, const uint8_t *bytes, size_t part)
{
	struct orr_cp_instance inst = { .t = &t, .number = NUMBER };

	MUST(orr_cp_file_begin(&inst) == 0);
	for (unsigned i = 0; i < n; i++)
		MUST(orr_cp_file_add(&inst, head[2 * i], head[2 * i + 1], bytes + i * part, part) ==
		     0);
	MUST(orr_cp_file_end(&inst) == 0);
}

/* Once: the folder stays in use. */
static void begin(void)
{
	char path[1024];

	for (unsigned k = 0; k < VALUES; k++)
		entries[k] = (struct orr_cp_entry){ .is_value = 1, .size = 8 * k + 4 };
	cp.me = (struct orr_cp_identity){ .program = 11, .arguments = 12, .command = "program" };
	MUST(orr_cp_folder_begin(&cp, fuzz_dir(), 0) == 0);
	save(NULL, 0, NULL, 0);
	path_of(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0 && read(fd, &written, sizeof(written)) == sizeof(written));
	close(fd);
}

/* ---- a file that is whole, but for what it says of itself ---- */

/* The sum that a header has of the heads of its records; *n: so many are there. */
static uint64_t records_of(const uint8_t *file, size_t size, uint32_t *n)
{
	struct orr_cp_record r;
	uint64_t sum = 0;

	*n = 0;
	for (size_t at = sizeof(struct orr_cp_file_header); size - at >= sizeof(r); (*n)++) {
		memcpy(&r, file + at, sizeof(r));
		if (r.size > size - at - sizeof(r))
			break;
		sum += orr_mix64(r.hash ^ orr_mix64(at));
		at += sizeof(r) + (size_t) r.size;
	}
	return sum;
}

static void seal(uint8_t *file, size_t size)
{
	struct orr_cp_file_header h;

	if (size < sizeof(h))
		return;
	memcpy(&h, file, sizeof(h));
	uint32_t ranks = h.size;
	uint64_t shape = h.shape, program = h.program;
	unsigned own = file[0];
	h = written;
	if (own & 1)
		h.size = ranks;
	if (own & 2)
		h.shape = shape;
	if (own & 4)
		h.program = program;
	h.end = size;
	h.records = records_of(file, size, &h.nrecords);
	h.sum = 0;
	h.sum = orr_cp_hash(&h, sizeof(h));
	memcpy(file, &h, sizeof(h));
}

/* ---- what the library makes of the file ---- */

/* 1 if it is taken as whole. */
static int is_whole(size_t size)
{
	struct orr_cp_found found;
	struct orr_cp_index index;

	fuzz_forget();
	MUST(orr_cp_file_find(&t, &found) == 0);
	MUST(found.seen == 1 && found.first == found.last);
	if (!found.last) {
		MUST(found.damaged + found.foreign == 1 && fuzz_errors == 1);
		return 0;
	}
	MUST(found.last == NUMBER && !found.damaged && !found.foreign && !fuzz_errors);
	MUST(orr_cp_file_open(&t, NUMBER, &index) == 0);
	for (uint32_t i = 0; i < index.n; i++) {
		const struct orr_cp_record *r = &index.v[i].record;
		const struct orr_cp_place *first = orr_cp_file_place(&index, r->k, (int) r->source);
		size_t got;

		MUST(first && index.v[i].at + (int64_t) r->size <= (int64_t) size);
		void *data = orr_cp_file_get(&t, &index, r->k, (int) r->source, &got);
		MUST(data && got == first->record.size);
		free(data);
	}
	orr_cp_file_close(&index);
	return 1;
}

static void as_file(const uint8_t *data, size_t size, int sealed)
{
	uint8_t *file = malloc(size + 1);

	MUST(file);
	memcpy(file, data, size);
	if (sealed)
		seal(file, size);
	fuzz_write("d0-t0-r0-i7", (char *) file, size);
	free(file);
	is_whole(size);
}

/* ---- a file that the library wrote ---- */

/* Of two records with one head the first one counts. */
static void comes_back(const uint8_t *head, unsigned n, const uint8_t *bytes, size_t part)
{
	struct orr_cp_index index;
	size_t got;

	MUST(orr_cp_file_open(&t, NUMBER, &index) == 0 && index.n == n);
	for (unsigned i = 0; i < n; i++) {
		unsigned first = 0;

		while (memcmp(head + 2 * first, head + 2 * i, 2))
			first++;
		void *value = orr_cp_file_get(&t, &index, head[2 * i], head[2 * i + 1], &got);
		MUST(value && got == part && !memcmp(value, bytes + first * part, part));
		free(value);
	}
	orr_cp_file_close(&index);
}

static void as_values(const uint8_t *data, size_t size)
{
	char path[1024];
	struct stat st;
	unsigned char byte;

	if (size < 4)
		return;
	unsigned n = data[3] % MOST;
	const uint8_t *head = data + 4, *bytes = head + 2 * (size_t) n;
	if (size < 4 + 2 * (size_t) n)
		return;
	size_t part = n ? (size - 4 - 2 * (size_t) n) / n : 0;
	save(head, n, bytes, part);
	path_of(path);
	MUST(stat(path, &st) == 0);
	MUST(is_whole((size_t) st.st_size));
	comes_back(head, n, bytes, part);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t at = (data[0] << 8 | data[1]) % st.st_size;
	MUST(pread(fd, &byte, 1, at) == 1);
	byte ^= (unsigned char) (data[2] ? data[2] : 1);
	MUST(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
	MUST(!is_whole((size_t) st.st_size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[1024];

	if (!size)
		return 0;
	if (!cp.dir)
		begin();
	if (data[0] == 'w')
		as_values(data + 1, size - 1);
	else
		as_file(data + 1, size - 1, data[0] == 's');
	path_of(path);
	unlink(path);
	return 0;
}
