/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=2 */
/* Disks as memory nodes: data that live in files, existing ones included, used by tasks and brought
 * back; both kinds of back ends. */
#include "data/mem_test.h"

#include <errno.h>
#include <unistd.h>

#define N 5000

static void use_file(struct starpu_disk_ops *ops, const char *folder)
{
	char path[300];
	int v[N], i, node;
	starpu_data_handle_t h, copy;
	void *obj;
	FILE *f;

	node = starpu_disk_register(ops, (void *) folder, STARPU_DISK_SIZE_MIN);
	CHECK(node > 0 && starpu_node_get_kind((unsigned) node) == STARPU_DISK_RAM);
	snprintf(path, sizeof(path), "%s/numbers", folder);
	for (i = 0; i < N; i++)
		v[i] = i;
	f = fopen(path, "wb");
	CHECK(f && fwrite(v, sizeof(int), N, f) == N && fclose(f) == 0);
	obj = starpu_disk_open((unsigned) node, (void *) "numbers", sizeof(v));
	CHECK(obj && !starpu_disk_open((unsigned) node, (void *) "missing", 1));
	starpu_vector_data_register(&h, node, (uintptr_t) obj, N, sizeof(int));
	CHECK(starpu_data_get_home_node(h) == node);
	add_on(h, -1, 10);
	CHECK(starpu_data_acquire(h, STARPU_RW) == 0);
	for (i = 0; i < N; i++)
		CHECK(((int *) starpu_data_get_local_ptr(h))[i] == i + 10);
	starpu_data_release(h);
	starpu_vector_data_register(&copy, -1, 0, N, sizeof(int));
	CHECK(starpu_data_cpy(copy, h, 0, NULL, NULL) == 0);
	CHECK(starpu_data_prefetch_on_node(copy, (unsigned) node, 0) == 0);
	CHECK(starpu_data_is_on_node(copy, (unsigned) node));
	add_on(copy, -1, 1);
	starpu_data_unregister(copy);
	starpu_data_unregister(h);
	starpu_disk_close((unsigned) node, obj, sizeof(v));
	f = fopen(path, "rb");
	CHECK(f && fread(v, sizeof(int), N, f) == N && fclose(f) == 0);
	for (i = 0; i < N; i++)
		CHECK(v[i] == i + 10);
	unlink(path);
}

int main(void)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	char folder[3][256], kept[300];
	FILE *f;

	start();
	snprintf(folder[0], 256, "%s/unistd-%d", tmp, getpid());
	snprintf(folder[1], 256, "%s/stdio-%d", tmp, getpid());
	snprintf(folder[2], 256, "%s/direct-%d", tmp, getpid());
	CHECK(starpu_disk_register(&starpu_disk_unistd_ops, folder[0], 1000) == -EINVAL);
	CHECK(starpu_disk_register(&starpu_disk_unistd_ops, (void *) "/proc/none/there", -1) ==
	      -ENOENT);
	use_file(&starpu_disk_unistd_ops, folder[0]);
	use_file(&starpu_disk_stdio_ops, folder[1]);
	use_file(&starpu_disk_unistd_o_direct_ops, folder[2]);
	snprintf(kept, sizeof(kept), "%s/kept", folder[2]);
	CHECK((f = fopen(kept, "w")) && fclose(f) == 0);
	starpu_shutdown();
	/* The runtime made the folders and removes them, but not one that has files. */
	CHECK(access(folder[0], F_OK) && access(folder[1], F_OK));
	CHECK(unlink(kept) == 0 && rmdir(folder[2]) == 0);
	return 0;
}
