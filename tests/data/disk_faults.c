/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* orr-test: env STARPU_NCPU=1 STARPU_LIMIT_CPU_MEM=2 STARPU_MINIMUM_CLEAN_BUFFERS=0 */
/* orr-test: expect no folder was given */
/* orr-test: expect no file can be made in .+file: .+; give a folder that can be written to */
/* orr-test: expect starpu_init first */
/* orr-test: expect no back end */
/* orr-test: expect are too few */
/* orr-test: expect is not a disk */
/* orr-test: expect missing cannot be opened */
/* orr-test: expect closed already */
/* orr-test: expect the file ends before */
/* orr-test: expect memory node 1 .a disk. is full: its back end has no room for 524288 bytes .*make room */
/* orr-test: expect memory node 1 .a disk. is full: .* of 16777216 bytes are in use.*larger size */
/* orr-test: expect memory node 0 .RAM 0. is exhausted and nothing on it can be evicted: .* needs 524288 bytes, and 2097152 of 2097152 */
/* Disks that cannot be used, are full, or break, and main memory that is full meanwhile: each
 * answered with an error, and no value lost; once the disk has room, all goes on. */
#include "data/mem_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define N (128 << 10) /* ints: 512 KiB, four of them fit in main memory */
#define BYTES (N * sizeof(int))

/* ---- a back end that fails when it is told to ---- */

static struct {
	int alloc_errno, write_errno, short_write;
	unsigned nalloc, nfree;
} fault;
static struct starpu_disk_ops faulty;

static void *faulty_alloc(void *base, size_t size)
{
	void *obj;

	if (fault.alloc_errno) {
		errno = fault.alloc_errno;
		return NULL;
	}
	obj = starpu_disk_unistd_ops.alloc(base, size);
	fault.nalloc += obj != NULL;
	return obj;
}

static void faulty_free(void *base, void *obj, size_t size)
{
	fault.nfree++;
	(starpu_disk_unistd_ops.free)(base, obj, size);
}

static int faulty_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	int ret = starpu_disk_unistd_ops.write(base, obj, buf, offset,
					       fault.write_errno ? size / 2 : size);

	return fault.write_errno ? -fault.write_errno : ret;
}

/* ---- data ---- */

static void set(starpu_data_handle_t h, int first)
{
	int *v, i;

	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	v = starpu_data_get_local_ptr(h);
	for (i = 0; i < N; i++)
		v[i] = first + i;
	starpu_data_release(h);
}

static void check(starpu_data_handle_t h, int first)
{
	const int *v;

	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = starpu_data_get_local_ptr(h);
	for (int i = 0; i < N; i++)
		CHECK(v[i] == first + i);
	starpu_data_release(h);
}

/* Fills main memory, and tries for more while the disk fails; then it works. */
static void overflow(int alloc_errno, int write_errno)
{
	starpu_data_handle_t h[6];
	int i;

	for (i = 0; i < 6; i++)
		starpu_vector_data_register(&h[i], -1, 0, N, sizeof(int));
	for (i = 0; i < 4; i++)
		set(h[i], 100 * i);
	fault.alloc_errno = alloc_errno;
	fault.write_errno = write_errno;
	CHECK(starpu_data_acquire(h[4], STARPU_W) == -ENOMEM);
	CHECK(starpu_data_evict_from_node(h[1], STARPU_MAIN_RAM) == -ENOSPC);
	for (i = 0; i < 4; i++)
		check(h[i], 100 * i);
	fault.alloc_errno = fault.write_errno = 0;
	for (; i < 6; i++)
		set(h[i], 100 * i);
	for (i = 0; i < 6; i++)
		check(h[i], 100 * i);
	for (i = 0; i < 6; i++)
		starpu_data_unregister(h[i]);
}

/* ---- mistakes ---- */

static void refused(const char *tmp)
{
	char path[300];
	FILE *f;

	CHECK(starpu_disk_register(NULL, (void *) tmp, -1) == -EINVAL);
	CHECK(starpu_disk_register(&starpu_disk_unistd_ops, NULL, -1) == -ENOENT);
	CHECK(starpu_disk_register(&starpu_disk_unistd_ops, (void *) tmp,
				   STARPU_DISK_SIZE_MIN - 1) == -EINVAL);
	snprintf(path, sizeof(path), "%s/file", tmp);
	f = fopen(path, "wb");
	CHECK(f && fclose(f) == 0);
	CHECK(starpu_disk_register(&starpu_disk_stdio_ops, path, -1) == -ENOENT);
	unlink(path);
	snprintf(path, sizeof(path), "%s/none/there", tmp);
	CHECK(starpu_disk_register(&starpu_disk_unistd_o_direct_ops, path, -1) == -ENOENT);
	CHECK(starpu_memory_nodes_get_count() == 1);
	CHECK(!starpu_disk_open(0, (void *) "x", 1) && !starpu_disk_open(7, (void *) "x", 1));
	starpu_disk_close(0, path, 1);
}

static void opened_files(const char *folder, unsigned disk)
{
	starpu_data_handle_t h;
	char path[400];
	void *obj;
	FILE *f;

	CHECK(!starpu_disk_open(disk, (void *) "missing", 1));
	snprintf(path, sizeof(path), "%s/numbers", folder);
	f = fopen(path, "wb");
	CHECK(f && fputs("1234567890", f) >= 0 && fclose(f) == 0);
	/* A file is never made shorter, and extended to what was asked for. */
	obj = starpu_disk_open(disk, (void *) "numbers", 4);
	CHECK(obj);
	f = fopen(path, "rb");
	CHECK(f && fseek(f, 0, SEEK_END) == 0 && ftell(f) == 10 && fclose(f) == 0);
	/* More data than the file has. */
	starpu_vector_data_register(&h, (int) disk, (uintptr_t) obj, 1000, sizeof(int));
	CHECK(starpu_data_acquire(h, STARPU_R) < 0);
	starpu_data_unregister_no_coherency(h);
	starpu_disk_close(disk, obj, 4);
	starpu_disk_close(disk, obj, 4);
	unlink(path);
}

/* The file system itself refuses: files of a process that has reached its limit. */
static void real_limit(const char *folder)
{
	struct rlimit old, small;
	starpu_data_handle_t h;
	int disk = starpu_disk_register(&starpu_disk_unistd_ops, (void *) folder, -1);

	CHECK(disk > 0);
	starpu_vector_data_register(&h, -1, 0, N, sizeof(int));
	set(h, 7);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
	small = old;
	small.rlim_cur = BYTES / 2;
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK(starpu_malloc_on_node((unsigned) disk, BYTES) == 0);
	CHECK(starpu_data_evict_from_node(h, STARPU_MAIN_RAM) == -ENOSPC);
	CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
	check(h, 7);
	CHECK(starpu_data_evict_from_node(h, STARPU_MAIN_RAM) == 0);
	check(h, 7);
	starpu_data_unregister(h);
}

/* A disk of the smallest size, which is full of what only it holds. */
static void small_disk(const char *folder)
{
	enum { MANY = STARPU_DISK_SIZE_MIN / BYTES + 6 };
	static starpu_data_handle_t h[MANY];
	int disk = starpu_disk_register(&starpu_disk_stdio_ops, (void *) folder,
					STARPU_DISK_SIZE_MIN),
	    i, n;

	CHECK(disk > 0 && starpu_memory_get_total((unsigned) disk) == STARPU_DISK_SIZE_MIN);
	for (n = 0; n < MANY; n++) {
		starpu_vector_data_register(&h[n], -1, 0, N, sizeof(int));
		if (starpu_data_acquire(h[n], STARPU_W))
			break;
		starpu_data_release(h[n]);
		set(h[n], n);
	}
	CHECK(n < MANY);
	/* One buffer of room, and all can be had one after the other. */
	starpu_data_unregister_no_coherency(h[n]);
	starpu_data_unregister_no_coherency(h[--n]);
	for (i = 0; i < n; i++)
		check(h[i], i);
	for (i = 0; i < n; i++)
		starpu_data_unregister(h[i]);
}

int main(void)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	char folder[300];
	int disk;

	CHECK(starpu_disk_register(&starpu_disk_unistd_ops, (void *) tmp, -1) == -ENODEV);
	start();
	refused(tmp);
	faulty = starpu_disk_unistd_ops;
	faulty.alloc = faulty_alloc;
	faulty.free = faulty_free;
	faulty.write = faulty_write;
	snprintf(folder, sizeof(folder), "%s/disk", tmp);
	disk = starpu_disk_register(&faulty, folder, -1);
	CHECK(disk == 1);
	opened_files(folder, 1);
	overflow(ENOSPC, 0);
	overflow(0, ENOSPC);
	overflow(0, EIO);
	starpu_shutdown();
	CHECK(fault.nalloc == fault.nfree && fault.nalloc > 0);
	start();
	real_limit(folder);
	starpu_shutdown();
	start();
	small_disk(folder);
	starpu_shutdown();
	CHECK(access(folder, F_OK)); /* the runtime made it */
	return 0;
}
