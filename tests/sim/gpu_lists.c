/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Cholesky factorization on a simulated machine with devices, by eager and by dmdas: `gpu_lists
 * PREFIX NT B [exact]`, where PREFIXgemm and so on are performance models of the machine and B the
 * rows of a tile (single precision). Started by gpu_lists.sh, which describes machines.
 *
 * Checks: both are above the area and critical-path bounds, dmdas is faster than any eager schedule
 * of the same times. With `exact`, where the script made copies and the runtime's own work free:
 * both take what list schedules take. */
#include "../core/list_schedule.h"

static char symbol[4][64];
static struct starpu_perfmodel model[4];
static struct starpu_codelet codelet[4];
static int nt, b;
static double us[4][LS_KINDS];

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static void setup(const char *prefix)
{
	static const char *const name[4] = { "potrf", "trsm", "syrk", "gemm" };

	for (int k = 0; k < 4; k++) {
		snprintf(symbol[k], sizeof(symbol[k]), "%s%s", prefix, name[k]);
		model[k] = (struct starpu_perfmodel){ .type = STARPU_HISTORY_BASED,
						      .symbol = symbol[k] };
		codelet[k] = (struct starpu_codelet){ .cpu_funcs = { nothing },
						      .nbuffers = k == LS_POTRF  ? 1
								  : k == LS_GEMM ? 3
										 : 2,
						      .model = &model[k],
						      .name = name[k] };
		for (int i = 0; i < codelet[k].nbuffers; i++)
			codelet[k].modes[i] = i == codelet[k].nbuffers - 1 ? STARPU_RW : STARPU_R;
	}
}

static struct starpu_task *task_of(starpu_data_handle_t *a, int kind, int n, const int *tile,
				   int prio)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = &codelet[kind];
	t->priority = prio;
	for (int i = 0; i < n; i++)
		t->handles[i] = a[tile[i]];
	return t;
}

static void submit(void *a, int kind, int n, const int *tile, int prio)
{
	CHECK_IS(starpu_task_submit(task_of(a, kind, n, tile, prio)), 0);
}

/* The times of the models: kind 0 is a core, kind i + 1 device i. */
static void ask_models(starpu_data_handle_t *a)
{
	for (int k = 0; k < 4; k++) {
		struct starpu_task *t = task_of(a, k, codelet[k].nbuffers, (int[]){ 0, nt, 2 * nt },
						0);

		for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
			int kind = starpu_worker_get_type((int) w) == STARPU_CPU_WORKER
					   ? 0
					   : 1 + starpu_worker_get_devid((int) w);

			us[k][kind] = starpu_task_worker_expected_length(t, w, 0, 0);
			CHECK(us[k][kind] > 0);
		}
		t->destroy = 0;
		starpu_task_destroy(t);
	}
}

/* Virtual milliseconds; *bound gets the lower bound. The first call asks the models. */
static double makespan(const char *policy, double *bound, struct ls *l)
{
	starpu_data_handle_t *a = calloc((size_t) (nt * nt), sizeof(*a));
	struct starpu_conf conf;
	double ms;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.sched_policy_name = policy;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK(starpu_cuda_worker_get_count() > 0);
	for (int i = 0; i < nt; i++)
		for (int j = 0; j <= i; j++) {
			starpu_matrix_data_register(&a[i * nt + j], -1, 0, b, b, b, sizeof(float));
			CHECK_IS(starpu_data_acquire(a[i * nt + j], STARPU_W), 0);
			starpu_data_release(a[i * nt + j]);
		}
	if (l) {
		ask_models(a);
		for (unsigned w = 0; w < starpu_worker_get_count(); w++)
			ls_unit(l,
				starpu_worker_get_type((int) w) == STARPU_CPU_WORKER
					? 0
					: 1 + starpu_worker_get_devid((int) w),
				starpu_worker_get_type((int) w) != STARPU_CPU_WORKER);
	}
	starpu_bound_start(1, 0);
	ms = starpu_timing_now();
	ls_cholesky(nt, submit, a);
	starpu_task_wait_for_all();
	ms = (starpu_timing_now() - ms) * 1e-3;
	starpu_bound_stop();
	starpu_bound_compute(bound, NULL, 0);
	for (int i = 0; i < nt; i++)
		for (int j = 0; j <= i; j++)
			starpu_data_unregister(a[i * nt + j]);
	starpu_shutdown();
	free(a);
	printf("%s: %.3f ms, lower bound %.3f ms\n", policy, ms, *bound);
	CHECK(ms >= *bound && *bound > 0);
	return ms;
}

static void record(void *arg, int kind, int n, const int *tile, int prio)
{
	struct ls *l = arg;
	int i, t = ls_task(l, prio);

	memcpy(l->task[t].us, us[kind], sizeof(us[kind]));
	for (i = 0; i < n; i++)
		ls_access(l, t, tile[i], i == n - 1);
}

int main(int argc, char **argv)
{
	struct ls *l = ls_new();
	struct ls_range eager, eft;
	double bound, ms, dmdas;

	CHECK(argc >= 4);
	setup(argv[1]);
	nt = atoi(argv[2]);
	b = atoi(argv[3]);
	ms = makespan("eager", &bound, l);
	dmdas = makespan("dmdas", &bound, NULL);
	ls_cholesky(nt, record, l);
	eager = ls_range(l, LS_EAGER);
	eft = ls_range(l, LS_EFT_PRIO);
	CHECK(dmdas < ms);
	CHECK(dmdas < eager.least);
	if (argc > 4) {
		CHECK(ls_within(ms, eager));
		CHECK(ls_within(dmdas, eft));
	}
	ls_free(l);
	return 0;
}
