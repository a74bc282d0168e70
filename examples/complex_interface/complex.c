/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Uses the complex interface: tasks, a copy between two handles, a data without home, packing into
 * bytes and back, and a partition.
 *
 * Invariant: every number is compared with the same computation done sequentially; the values are
 * exact in doubles.
 *
 *      orrery cc --both complex.c complex_interface.c opencl.c -o complex_interface -lOpenCL
 *      ./complex_interface -n 1000
 *      orrery sim -n 1 complex_interface.sim
 */
#include "complex_interface.h"

#include "../devices.h"
#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Squares complex numbers, as a whole and in pieces.\n"
			    "  -n N             numbers (default 100)\n"
			    "  -p N             pieces (default 6)\n"
			    "  --devices        only devices square (CUDA, OpenCL)\n"
			    "  -h, --help       this text\n";

static int n = 100, pieces = 6, devices;

/* x = x * x + value */
static void square_cpu(void *buffers[], void *arg)
{
	double *re = COMPLEX_GET_REAL(buffers[0]), *im = COMPLEX_GET_IMAGINARY(buffers[0]);
	int value;

	starpu_codelet_unpack_args(arg, &value);
	for (int i = 0; i < COMPLEX_GET_NX(buffers[0]); i++) {
		double x = re[i] * re[i] - im[i] * im[i] + value;

		im[i] = 2 * re[i] * im[i];
		re[i] = x;
	}
}

/* opencl.c and kernels.cu, where the build has them. */
DEVICE_KERNEL(square_opencl);
DEVICE_KERNEL(square_cuda);
DEVICE_SETUP(opencl_setup);
DEVICE_SETUP(opencl_end);

static struct starpu_codelet square_cl = {
	.cpu_funcs = { square_cpu },
	.cpu_funcs_name = { "square_cpu" },
	.cuda_funcs = { square_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { square_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "square",
};

static int square(starpu_data_handle_t h, int value)
{
	return starpu_task_insert(&square_cl, STARPU_RW, h, STARPU_VALUE, &value, sizeof(value), 0);
}

static void expect(int i, int in_pieces, double *re, double *im)
{
	double x;

	*re = i % 3;
	*im = i % 2;
	x = *re * *re - *im * *im + 1;
	*im = 2 * *re * *im;
	*re = x;
	if (!in_pieces)
		return;
	x = *re * *re - *im * *im + 2;
	*im = 2 * *re * *im;
	*re = x;
}

static int check(const char *what, const double *re, const double *im, int in_pieces)
{
	for (int i = 0; i < n; i++) {
		double x, y;

		expect(i, in_pieces, &x, &y);
		if (re[i] != x || im[i] != y) {
			fprintf(stderr, "%s: number %d is %g+%gi, should be %g+%gi\n", what, i,
				re[i], im[i], x, y);
			return 1;
		}
	}
	return 0;
}

/* Packs h into bytes and unpacks them into `to`. */
static int through_bytes(starpu_data_handle_t h, starpu_data_handle_t to)
{
	starpu_ssize_t count;
	void *buf;
	int ret = starpu_data_acquire(h, STARPU_R) || starpu_data_acquire(to, STARPU_W);

	ret = ret || starpu_data_pack(h, &buf, &count) ||
	      starpu_data_unpack(to, buf, (size_t) count);
	starpu_data_release(to);
	starpu_data_release(h);
	return ret;
}

static int run(double *re, double *im, double *re2, double *im2)
{
	struct starpu_data_filter f = { .filter_func = complex_filter_block,
					.nchildren = (unsigned) pieces };
	starpu_data_handle_t a, b, temporary;
	int ret;

	complex_data_register(&a, STARPU_MAIN_RAM, re, im, n);
	complex_data_register(&b, STARPU_MAIN_RAM, re2, im2, n);
	complex_data_register(&temporary, -1, NULL, NULL, n);
	ret = square(a, 1);
	ret |= starpu_data_cpy(temporary, a, 1, NULL, NULL);
	starpu_data_partition(a, &f);
	for (unsigned i = 0; i < (unsigned) pieces; i++)
		ret |= square(starpu_data_get_sub_data(a, 1, i), 2);
	starpu_data_unpartition(a, STARPU_MAIN_RAM);
	ret |= through_bytes(temporary, b);
	starpu_data_unregister(temporary);
	starpu_data_unregister(b);
	starpu_data_unregister(a);
	return ret;
}

int main(int argc, char **argv)
{
	struct starpu_codelet *const squaring[] = { &square_cl, NULL };
	struct options o;
	double *v;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 1 << 24, &n))
			;
		else if (options_flag(&o, "--devices", NULL))
			devices = 1;
		else if (options_int(&o, "-p", NULL, 1, 10000, &pieces))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "complex_interface", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	if (devices && devices_only(squaring, "complex_interface")) {
		starpu_shutdown();
		return 77;
	}
	device_call(opencl_setup);
	v = calloc((size_t) n * 4, sizeof(*v));
	for (int i = 0; i < n; i++) {
		v[i] = i % 3;
		v[n + i] = i % 2;
	}
	ret = run(v, v + n, v + 2 * n, v + 3 * n);
	ret = ret || check("in pieces", v, v + n, 1) || check("copy", v + 2 * n, v + 3 * n, 0);
	printf("complex_interface n=%d pieces=%d\ncheck: %s\n", n, pieces, ret ? "FAILED" : "OK");
	free(v);
	device_call(opencl_end);
	starpu_shutdown();
	return ret;
}
