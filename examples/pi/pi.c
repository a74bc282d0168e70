/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The area of a quarter of a circle, in strips. The program knows nothing of ranks: master and
 * slaves share its tasks out (chapter 14.21 of the handbook).
 *
 * Invariant: slaves find the kernel by its name, so it is not static, and the program is linked
 * with -rdynamic.
 *
 *      orrery cc --both pi.c -o pi -rdynamic
 *      orrery run -n 4 --master-slave pi
 *      orrery sim -n 4 --master-slave pi.sim
 */
#include <math.h>
#include <starpu.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Computes pi on all ranks of a run with --master-slave.\n"
			    "  -s, --strips N   number of tasks (default 64)\n"
			    "  -n N             steps of each (default 200000)\n"
			    "  -h, --help       this text\n";

struct strip {
	double from, to;
	int steps;
};

void strip_area(void *buffers[], void *arg);

void strip_area(void *buffers[], void *arg)
{
	double *area = (double *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	struct strip s;

	starpu_codelet_unpack_args(arg, &s);
	*area = 0;
	for (int i = 0; i < s.steps; i++) {
		double step = (s.to - s.from) / s.steps, x = s.from + (i + 0.5) * step;

		*area += sqrt(1 - x * x) * step;
	}
}

static struct starpu_codelet strip_cl = {
	.cpu_funcs = { strip_area },
	.cpu_funcs_name = { "strip_area" },
	.nbuffers = 1,
	.modes = { STARPU_W },
	.name = "strip",
};

static unsigned long count_remote(void)
{
	unsigned long n = 0;

	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		if (starpu_worker_get_type((int) i) == STARPU_MPI_MS_WORKER)
			n += strip_cl.per_worker_stats[i];
	return n;
}

static double add_up(int strips, int steps)
{
	double *area = calloc((size_t) strips, sizeof(*area)), sum = 0;
	starpu_data_handle_t *handle = calloc((size_t) strips, sizeof(*handle));

	for (int i = 0; i < strips; i++) {
		struct strip s = { (double) i / strips, (double) (i + 1) / strips, steps };

		starpu_variable_data_register(&handle[i], STARPU_MAIN_RAM, (uintptr_t) &area[i],
					      sizeof(area[i]));
		/* The argument is copied, and its size travels with it. */
		starpu_task_insert(&strip_cl, STARPU_VALUE, &s, sizeof(s), STARPU_W, handle[i], 0);
	}
	for (int i = 0; i < strips; i++) {
		starpu_data_unregister(handle[i]);
		sum += area[i];
	}
	free(handle);
	free(area);
	return sum;
}

int main(int argc, char **argv)
{
	int strips = 64, steps = 200000, ret;
	struct options o;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "--strips", "-s", 1, 100000, &strips))
			;
		else if (options_int(&o, "-n", NULL, 1, 100000000, &steps))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "pi", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;

	double pi = 4 * add_up(strips, steps);

	ret = fabs(pi - acos(-1)) > 1e-6;
	printf("pi=%.9f strips=%d by_slaves=%lu\ncheck: %s\n", pi, strips, count_remote(),
	       ret ? "FAILED" : "OK");
	starpu_shutdown();
	return ret;
}
