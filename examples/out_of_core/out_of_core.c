/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrices that do not fit in main memory: S = A·Aᵀ / 2, with tiles that live in three ways.
 *
 *      A       exists in files before the runtime starts; each tile is opened and registered
 *              with the disk as home node
 *      T       = A·Aᵀ has no home: the runtime allocates its tiles, and moves them to the disk
 *              when memory is short
 *      S       goes to files, which have the result once the data are unregistered
 *
 * Main memory is limited (STARPU_LIMIT_CPU_MEM, 2 MiB unless the environment says more) to a
 * fraction of all this. Nothing else sets the program apart from one whose data fit: tasks name
 * handles, and the runtime brings their tiles and puts them away.
 *
 * Invariant: all numbers are integers that a double holds exactly, so that the check is exact.
 *
 *      orrery cc --both out_of_core.c -o out_of_core
 *      ./out_of_core
 *      orrery sim -n 1 out_of_core.sim
 */
#include <starpu.h>
#include <orrery.h>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Multiplies matrices several times as large as the main memory that it may use.\n"
	"  -nt N            tiles per row (default 10)\n"
	"  -b N             rows of a tile (default 64)\n"
	"  --disk FOLDER    where files are (default out_of_core.disk; what was made there is removed at the end)\n"
	"  --backend NAME   unistd, stdio or unistd_o_direct (default unistd)\n"
	"  --no-check       do not look at the result (a simulation that skips kernels computes none)\n"
	"  -h, --help       this text\n";

static int nt = 10, b = 64;
static const char *folder = "out_of_core.disk", *backend = "unistd";

/* One tile: its data, and its file if it has one. */
struct tile {
	starpu_data_handle_t handle;
	void *object;
	char name[32];
};

static size_t tile_bytes(void)
{
	return (size_t) b * (size_t) b * sizeof(double);
}
static double value(int i, int j)
{
	return (i * 3 + j * 5) % 7 - 3;
}

/* ---- kernels ---- */

/* T = A·Bᵀ, or with `more` T += A·Bᵀ. */
static void product(void *buffers[], int more)
{
	const double *a = (const double *) STARPU_MATRIX_GET_PTR(buffers[0]);
	const double *bt = (const double *) STARPU_MATRIX_GET_PTR(buffers[1]);
	double *t = (double *) STARPU_MATRIX_GET_PTR(buffers[2]);
	unsigned n = STARPU_MATRIX_GET_NX(buffers[2]), i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++) {
			double sum = more ? t[i * n + j] : 0;

			for (k = 0; k < n; k++)
				sum += a[i * n + k] * bt[j * n + k];
			t[i * n + j] = sum;
		}
}

static void multiply(void *buffers[], void *arg)
{
	(void) arg;
	product(buffers, 0);
}

static void multiply_add(void *buffers[], void *arg)
{
	(void) arg;
	product(buffers, 1);
}

static void halve(void *buffers[], void *arg)
{
	double *s = (double *) STARPU_MATRIX_GET_PTR(buffers[0]);
	const double *t = (const double *) STARPU_MATRIX_GET_PTR(buffers[1]);
	unsigned n = STARPU_MATRIX_GET_NX(buffers[0]) * STARPU_MATRIX_GET_NY(buffers[0]), i;

	(void) arg;
	for (i = 0; i < n; i++)
		s[i] = t[i] / 2;
}

static struct starpu_codelet multiply_cl = {
	.cpu_funcs = { multiply },
	.cpu_funcs_name = { "multiply" },
	.nbuffers = 3,
	.modes = { STARPU_R, STARPU_R, STARPU_W },
	.name = "multiply",
};

/* The data that a task reads have to be there: that the first product only writes saves as many
 * reads of the disk. */
static struct starpu_codelet multiply_add_cl = {
	.cpu_funcs = { multiply_add },
	.cpu_funcs_name = { "multiply_add" },
	.nbuffers = 3,
	.modes = { STARPU_R, STARPU_R, STARPU_RW },
	.name = "multiply_add",
};

static struct starpu_codelet halve_cl = {
	.cpu_funcs = { halve },
	.cpu_funcs_name = { "halve" },
	.nbuffers = 2,
	.modes = { STARPU_W, STARPU_R },
	.name = "halve",
};

/* ---- files ---- */

static void path_of(char *path, size_t size, const struct tile *t)
{
	snprintf(path, size, "%s/%s", folder, t->name);
}

static FILE *open_tile(const struct tile *t, const char *mode)
{
	char path[512];

	path_of(path, sizeof(path), t);
	return fopen(path, mode);
}

/* The files of A, with values, and those of S, empty: the runtime makes them as long as they have
 * to be. */
static int make_files(struct tile *a, struct tile *s)
{
	double *row = malloc((size_t) b * sizeof(*row));
	int ok = row != NULL;

	if (mkdir(folder, 0700) && errno != EEXIST)
		ok = 0;
	for (int i = 0; i < nt && ok; i++)
		for (int j = 0; j < nt && ok; j++) {
			struct tile *ta = &a[i * nt + j], *ts = &s[i * nt + j];
			FILE *f;

			snprintf(ta->name, sizeof(ta->name), "a-%d-%d", i, j);
			snprintf(ts->name, sizeof(ts->name), "s-%d-%d", i, j);
			f = open_tile(ta, "wb");
			for (int x = 0; x < b && f; x++) {
				for (int y = 0; y < b; y++)
					row[y] = value(i * b + x, j * b + y);
				ok &= fwrite(row, sizeof(*row), (size_t) b, f) == (size_t) b;
			}
			ok &= f && fclose(f) == 0;
			f = open_tile(ts, "wb");
			ok &= f && fclose(f) == 0;
		}
	free(row);
	if (!ok)
		fprintf(stderr,
			"out_of_core: the files of the matrices cannot be written to %s: %s\n",
			folder, strerror(errno));
	return ok ? 0 : 1;
}

static void remove_files(struct tile *a, struct tile *s)
{
	char path[512];

	for (int i = 0; i < nt * nt; i++) {
		path_of(path, sizeof(path), &a[i]);
		unlink(path);
		path_of(path, sizeof(path), &s[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* ---- data ---- */

/* A tile that is a file on the disk. */
static int register_file(struct tile *t, int disk)
{
	t->object = starpu_disk_open((unsigned) disk, t->name, tile_bytes());
	if (!t->object)
		return 1;
	starpu_matrix_data_register(&t->handle, disk, (uintptr_t) t->object, (uint32_t) b,
				    (uint32_t) b, (uint32_t) b, sizeof(double));
	return 0;
}

static int register_all(struct tile *a, struct tile *t, struct tile *s, int disk)
{
	for (int i = 0; i < nt * nt; i++) {
		if (register_file(&a[i], disk) || register_file(&s[i], disk))
			return 1;
		starpu_matrix_data_register(&t[i].handle, -1, 0, (uint32_t) b, (uint32_t) b,
					    (uint32_t) b, sizeof(double));
	}
	return 0;
}

static void unregister_all(struct tile *a, struct tile *t, struct tile *s, int disk)
{
	for (int i = 0; i < nt * nt; i++) {
		starpu_data_unregister(a[i].handle);
		starpu_data_unregister(t[i].handle);
		starpu_data_unregister(s[i].handle);
		starpu_disk_close((unsigned) disk, a[i].object, tile_bytes());
		starpu_disk_close((unsigned) disk, s[i].object, tile_bytes());
	}
}

/* ---- computation ---- */

/* The more products a tile of T has, the more urgent its next one: else each tile would be put away
 * after each of them. */
static int compute(struct tile *a, struct tile *t, struct tile *s)
{
	double flops = 2.0 * b * b * b;
	int ret = 0;

	for (int i = 0; i < nt && !ret; i++)
		for (int j = 0; j < nt && !ret; j++) {
			starpu_data_handle_t tij = t[i * nt + j].handle;

			for (int k = 0; k < nt && !ret; k++)
				ret = starpu_task_insert(
					k ? &multiply_add_cl : &multiply_cl, STARPU_R,
					a[i * nt + k].handle, STARPU_R, a[j * nt + k].handle,
					k ? STARPU_RW : STARPU_W, tij, STARPU_PRIORITY, k,
					STARPU_FLOPS, flops, 0);
		}
	for (int i = 0; i < nt * nt && !ret; i++)
		ret = starpu_task_insert(&halve_cl, STARPU_W, s[i].handle, STARPU_R, t[i].handle,
					 0);
	starpu_task_wait_for_all();
	return ret;
}

/* Does S·v equal A·(Aᵀ·v) / 2? S is read from its files, as any other program would. */
static int check(const struct tile *s)
{
	int n = nt * b, ok, i, j, x, y;
	double *v = calloc((size_t) n * 3, sizeof(*v)), *w, *sv,
	       *row = malloc((size_t) b * sizeof(*row));

	ok = v && row;
	if (ok) {
		w = v + n;
		sv = w + n;
		for (i = 0; i < n; i++)
			v[i] = i % 5 - 2;
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				w[j] += value(i, j) * v[i];
		for (i = 0; i < nt; i++)
			for (j = 0; j < nt && ok; j++) {
				FILE *f = open_tile(&s[i * nt + j], "rb");

				for (x = 0; x < b && f && ok; x++) {
					ok = fread(row, sizeof(*row), (size_t) b, f) == (size_t) b;
					for (y = 0; y < b && ok; y++)
						sv[i * b + x] += row[y] * v[j * b + y];
				}
				ok &= f && fclose(f) == 0;
			}
		for (i = 0; i < n && ok; i++) {
			double want = 0;

			for (j = 0; j < n; j++)
				want += value(i, j) * w[j];
			ok = sv[i] == want / 2;
			if (!ok)
				fprintf(stderr, "row %d of S·v is %g, should be %g\n", i, sv[i],
					want / 2);
		}
	}
	free(v);
	free(row);
	return !ok;
}

static struct starpu_disk_ops *find_backend(void)
{
	if (!strcmp(backend, "stdio"))
		return &starpu_disk_stdio_ops;
	if (!strcmp(backend, "unistd_o_direct"))
		return &starpu_disk_unistd_o_direct_ops;
	return !strcmp(backend, "unistd") ? &starpu_disk_unistd_ops : NULL;
}

/* From the registration of the disk to the end of the data. */
static int run(struct tile *a, struct tile *t, struct tile *s)
{
	int disk = starpu_disk_register(find_backend(), (void *) folder, -1);
	uint64_t read, written;
	double start = starpu_timing_now(), mib = 1024 * 1024;

	if (disk < 0 || register_all(a, t, s, disk) || compute(a, t, s))
		return 1;
	unregister_all(a, t, s, disk);
	orrery_transfer_bytes((unsigned) disk, &written, &read);
	printf("out_of_core tiles=%d tile=%d data_mib=%.1f memory_mib=%.1f read_mib=%.1f written_mib=%.1f time_s=%.6f\n",
	       nt, b, 3.0 * nt * nt * (double) tile_bytes() / mib,
	       (double) starpu_memory_get_total(STARPU_MAIN_RAM) / mib, (double) read / mib,
	       (double) written / mib, (starpu_timing_now() - start) * 1e-6);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	struct starpu_conf conf;
	struct tile *tiles;
	int no_check = 0, ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-nt", NULL, 1, 1000, &nt))
			;
		else if (options_int(&o, "-b", NULL, 1, 10000, &b))
			;
		else if (options_text(&o, "--disk", &folder))
			;
		else if (options_text(&o, "--backend", &backend))
			;
		else if (options_flag(&o, "--no-check", NULL))
			no_check = 1;
		else
			options_unknown(&o);
	if (!o.error[0] && !find_backend())
		snprintf(o.error, sizeof(o.error),
			 "--backend takes unistd, stdio or unistd_o_direct, not '%.40s'", backend);
	if ((ret = options_report(&o, 0, "out_of_core", usage)) >= 0)
		return ret;
	setenv("STARPU_LIMIT_CPU_MEM", "2", 0);
	tiles = calloc((size_t) nt * (size_t) nt * 3, sizeof(*tiles));
	if (!tiles || make_files(tiles, tiles + 2 * nt * nt))
		return 1;
	starpu_conf_init(&conf);
	conf.sched_policy_name = "prio";
	if (starpu_init(&conf))
		return 77;
	ret = run(tiles, tiles + nt * nt, tiles + 2 * nt * nt);
	starpu_shutdown();
	if (!ret && !no_check) {
		ret = check(tiles + 2 * nt * nt);
		printf("check: %s\n", ret ? "FAILED" : "OK");
	}
	remove_files(tiles, tiles + 2 * nt * nt);
	free(tiles);
	return ret;
}
