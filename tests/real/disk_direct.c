/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=1 STARPU_SILENT=0 */
/* orr-test: expect has no O_DIRECT: .*page cache */
/* The back end without page cache: offsets, sizes and addresses that lie on no block, files that
 * keep their size, whole blocks that leave nothing in the page cache; and the same bytes, after a
 * warning, on a file system that refuses O_DIRECT. */
#include "data/mem_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096
#define SIZE (3 << 20) /* several pieces of the buffer in between, and more */

static int refuse;

/* Instead of the C library's, for the runtime too: a file system without O_DIRECT answers like
 * that. */
int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	if (refuse && (flags & O_DIRECT)) {
		errno = EINVAL;
		return -1;
	}
	return openat(AT_FDCWD, path, flags, mode);
}

/* Pages of the file in the page cache. */
static size_t cached(const char *path)
{
	size_t pages = SIZE / BLOCK, n = 0;
	int fd = open(path, O_RDONLY);
	unsigned char *in = malloc(pages);
	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(fd >= 0 && in && map != MAP_FAILED && mincore(map, SIZE, in) == 0);
	for (size_t i = 0; i < pages; i++)
		n += in[i] & 1;
	munmap(map, SIZE);
	close(fd);
	free(in);
	return n;
}

static int takes_direct(const char *path)
{
	int fd = open(path, O_WRONLY | O_DIRECT), ok;
	void *block = NULL;

	CHECK(posix_memalign(&block, BLOCK, BLOCK) == 0);
	memset(block, 0, BLOCK);
	ok = fd >= 0 && pwrite(fd, block, BLOCK, 0) == BLOCK;
	if (fd >= 0)
		close(fd);
	free(block);
	return ok;
}

/* One transfer each way of that part of the file, from and to a buffer `shift` bytes off a block;
 * the rest stays. */
static void part(void *base, void *obj, unsigned char *image, unsigned char *buf, off_t offset,
		 size_t size, size_t shift)
{
	static unsigned char round;
	unsigned char *at = buf + shift;

	round++;
	for (size_t i = 0; i < size; i++)
		at[i] = image[(size_t) offset + i] = (unsigned char) (i * 7 + round);
	CHECK(starpu_disk_unistd_o_direct_ops.write(base, obj, at, offset, size) == 0);
	memset(at, 0, size);
	CHECK(starpu_disk_unistd_o_direct_ops.read(base, obj, at, offset, size) == 0);
	CHECK(memcmp(at, image + offset, size) == 0);
}

static void back_end(char *folder, const char *path)
{
	static const struct {
		off_t offset;
		size_t size, shift;
	} parts[] = {
		{ 0, SIZE, 0 },
		{ 0, SIZE, 64 },
		{ 1, SIZE - 2, 3 },
		{ 0, 1, 0 },
		{ BLOCK - 1, 2, 1 },
		{ BLOCK, BLOCK, 0 },
		{ BLOCK - 1, BLOCK + 2, 8 },
		{ 100, 200, 0 },
		{ 2 * BLOCK, 3 * BLOCK + 5, 16 },
		{ SIZE - 10, 10, 0 },
		{ 7, 2 << 20, 5 },
	};
	struct starpu_disk_ops *ops = &starpu_disk_unistd_o_direct_ops;
	unsigned char *image = calloc(1, SIZE), *buf = NULL, *whole;
	void *base = ops->plug(folder, -1), *obj, *ptr;
	struct stat st;
	size_t size;
	FILE *f = fopen(path, "wb");

	CHECK(image && posix_memalign((void **) &buf, BLOCK, SIZE + BLOCK) == 0);
	CHECK(base && f && fclose(f) == 0 && (obj = ops->open(base, (void *) "bytes", SIZE)));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		part(base, obj, image, buf, parts[i].offset, parts[i].size, parts[i].shift);
		CHECK(stat(path, &st) == 0 && st.st_size == SIZE);
		CHECK(ops->full_read(base, obj, &ptr, &size, STARPU_MAIN_RAM) == 0 &&
		      size == SIZE && memcmp(ptr, image, SIZE) == 0);
		starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t) ptr, size, 0);
		f = fopen(path, "rb");
		whole = malloc(SIZE);
		CHECK(f && whole && fread(whole, 1, SIZE, f) == SIZE && fclose(f) == 0 &&
		      memcmp(whole, image, SIZE) == 0);
		free(whole);
	}
	/* A file of an odd size stays so. */
	CHECK(ops->full_write(base, obj, image, SIZE / 2 + 1) == 0 && stat(path, &st) == 0 &&
	      st.st_size == SIZE / 2 + 1);
	CHECK(ops->read(base, obj, buf, SIZE / 2, 2) == -ENODATA);
	ops->close(base, obj, SIZE);
	unlink(path);
	ops->unplug(base);
	free(buf);
	free(image);
}

/* Data go there and come back past the page cache. */
static void data(char *folder, const char *path)
{
	int disk = starpu_disk_register(&starpu_disk_unistd_o_direct_ops, folder, -1), direct, *v,
	    i;
	starpu_data_handle_t h;
	FILE *f = fopen(path, "wb");
	void *obj;

	CHECK(disk > 0 && f && fclose(f) == 0 &&
	      (obj = starpu_disk_open((unsigned) disk, (void *) "bytes", SIZE)));
	direct = takes_direct(path);
	starpu_vector_data_register(&h, disk, (uintptr_t) obj, SIZE / sizeof(int), sizeof(int));
	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	v = starpu_data_get_local_ptr(h);
	for (i = 0; i < (int) (SIZE / sizeof(int)); i++)
		v[i] = i;
	starpu_data_release(h);
	starpu_data_unregister(h);
	starpu_disk_close((unsigned) disk, obj, SIZE);
	printf("O_DIRECT: %s, %zu pages cached\n", direct ? "yes" : "no", cached(path));
	CHECK(!direct || cached(path) == 0);
	f = fopen(path, "rb");
	for (i = 0; i < (int) (SIZE / sizeof(int)); i++) {
		int n;

		CHECK(fread(&n, sizeof(n), 1, f) == 1 && n == i);
	}
	fclose(f);
	unlink(path);
}

int main(void)
{
	char folder[256], path[300];

	start();
	snprintf(folder, sizeof(folder), "%s/direct",
		 getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp");
	snprintf(path, sizeof(path), "%s/bytes", folder);
	for (refuse = 0; refuse < 2; refuse++) {
		back_end(folder, path);
		data(folder, path);
	}
	starpu_shutdown();
	CHECK(access(folder, F_OK)); /* the disk made the folder, and removed it */
	return 0;
}
