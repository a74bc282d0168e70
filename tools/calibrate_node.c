/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-node [ROUNDS]: what the runtime and the copies between memories cost in one
 * process of this machine.
 *
 * Prints "NAME VALUE" lines for tools/orrery_calibrate.py: numbers of units; bandwidth and latency
 * of each pair of memory nodes, with pinned main memory where devices need it, and pageable ones
 * between main memory and devices; memory, alloc_us, first_us, pin_us and launch_us of devices;
 * submit_us, sched_us, complete_us, datum_us, reload_us, reload_large_us, profile_submit_us,
 * profile_us, shared_us, shared_datum_us, shared_profile_us, wake_us, turn_us and buffer_us.
 * Invariant: every number is the best of ROUNDS rounds (15), since anything else that the machine
 * does can only make a round longer; or their median where it says so, as for tasks. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <starpu.h>
#include "data/data.h"
#include "data/memnode.h"
#include "drivers/cuda_own.h"
#include "base/seam_memory.h"

enum {
	NTASKS = 16000,
	FEWER_TASKS = 2048, /* with large kernels */
	MOST_WORKERS = 8,
	NSETS = 1024,
	MOST_ROUNDS = 20,
	BIG = 32 << 20,
	SMALL = 64,
	COPIES = 2000,
	BUFFER = 4 << 20,
	LAUNCHES = 200,
	SWEPT = 8 << 20,
	SWEEP = 64 << 10,
	SMALL_SWEEP = 1 << 10,
	LARGE_SWEEP = 1 << 20,
	SMALL_LASTS = 4 /* microseconds, as long as the others do at least */
};

static int rounds = 15;
static unsigned nbeside; /* workers of kinds that are executed beside each other */

/* Of each worker: the time of its kernels since it was last reset, and the memory that they
 * sweep. */
static struct {
	double kernels_us;
	double *memory;
	size_t swept, sweep;   /* bytes / sizeof(double) */
	unsigned data, shared; /* of its tasks; of them, those that another worker used last */
} of_worker[MOST_WORKERS] __attribute__((aligned(64)));

/* Of each place of a stencil: its own datum, and what those beside it read, at even and at odd
 * times; and which worker used each last, + 1. */
static starpu_data_handle_t data[3 * NSETS];
static uint8_t last_user[3 * NSETS];
static int ndata; /* of a task: the first ones of data_of() */

/* The data of task i, by number. */
static void data_of(int i, int of[5])
{
	int odd = i / NSETS % 2, at = i % NSETS, read = (1 + odd) * NSETS;
	of[0] = at;
	of[1] = (1 + !odd) * NSETS + at;
	of[2] = read + (at - 1 + NSETS) % NSETS;
	of[3] = read + (at + 1) % NSETS;
	of[4] = read + (at + 16) % NSETS;
}

static void count_shared(int w, int i)
{
	int of[5];
	data_of(i, of);
	for (int b = 0; b < ndata; b++) {
		uint8_t before = __atomic_exchange_n(&last_user[of[b]], (uint8_t) (w + 1),
						     __ATOMIC_RELAXED);
		of_worker[w].shared += before && before != w + 1;
	}
	of_worker[w].data += (unsigned) ndata;
}

/*
 * A kernel that uses the caches as kernels do: what the runtime needs between two of them is no
 * longer near. (Between kernels that do nothing, the runtime takes a third of that.)
 */
static void sweep(void *buffers[], void *arg)
{
	double start = starpu_timing_now(), sum = 0;
	int w = starpu_worker_get_id();
	double *v = of_worker[w].memory + of_worker[w].swept;
	int task;
	(void) buffers;
	starpu_codelet_unpack_args(arg, &task);
	count_shared(w, task);
	for (size_t i = 0; i < of_worker[w].sweep; i++)
		v[i] = sum += v[i] * 0.5;
	of_worker[w].swept = (of_worker[w].swept + of_worker[w].sweep) % (SWEPT / sizeof(*v));
	double end = starpu_timing_now();
	while (end - start < SMALL_LASTS)
		end = starpu_timing_now();
	of_worker[w].kernels_us += end - start;
}

static struct starpu_codelet cl = { .cpu_funcs = { sweep },
				    .modes = { STARPU_RW, STARPU_W, STARPU_R, STARPU_R, STARPU_R },
				    .name = "sweep" };
static int values[3 * NSETS];

/* A task of a stencil. All tasks of a time become ready before the first of them is executed, so
 * that what they need has left the near caches when their turn comes: of tasks in a chain, each is
 * still there from the end of the one before. */
static void submit(int i, int pinned)
{
	int of[5];
	struct starpu_data_descr descr[5];
	data_of(i, of);
	for (int b = 0; b < ndata; b++)
		descr[b] = (struct starpu_data_descr){ .handle = data[of[b]], .mode = cl.modes[b] };
	if (starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, descr, ndata, STARPU_VALUE, &i,
			       sizeof(i), STARPU_EXECUTE_ON_WORKER, pinned ? 0 : -1, 0))
		abort();
}

/* Kinds of tasks: with one datum, and pinned to the worker; with five, and with profiling. All of
 * these but pinned ones again when all are submitted before the first is executed, by one worker
 * and by several. By one worker also those with five data and kernels that sweep less, and more. */
enum kind {
	ONE,
	PINNED,
	FIVE,
	PROFILED,
	ALONE_SMALL,
	ALONE_LARGE,
	ALONE_FIVE,
	ALONE_ONE,
	ALONE_PROFILED,
	BESIDE_ONE,
	BESIDE_FIVE,
	BESIDE_PROFILED,
	KINDS
};

static int has_profiling(enum kind kind)
{
	return kind == PROFILED || kind == ALONE_PROFILED || kind == BESIDE_PROFILED;
}

static size_t sweep_of(enum kind kind)
{
	return kind == ALONE_SMALL ? SMALL_SWEEP : kind == ALONE_LARGE ? LARGE_SWEEP : SWEEP;
}

static unsigned nworkers_of(enum kind kind)
{
	return kind < BESIDE_ONE ? 1 : nbeside;
}

/* Of each round, microseconds per task: of submission while a worker executes, and of execution
 * without the kernels. */
static double submit_us[KINDS][MOST_ROUNDS], run_us[KINDS][MOST_ROUNDS];
/* ... and the part of their data that another worker used last. */
static double shared[KINDS][MOST_ROUNDS];

struct measured {
	double submit_us, run_us, shared;
};

/* Of submission, and of execution. The worker is the slower one, so that it always has a task; and
 * the program runs ahead of it as far as programs do, so that what it wrote for a task is in no
 * near cache any more when the task's turn comes. Several workers begin when all is submitted:
 * else the program's thread would have a core for which they wait. */
static struct measured measure_kind(enum kind kind)
{
	int first_all = kind >= ALONE_SMALL, ntasks = kind == ALONE_LARGE ? FEWER_TASKS : NTASKS;
	unsigned nworkers = nworkers_of(kind);
	double kernels_us = 0, n_shared = 0, n_data = 0;
	ndata = kind == ONE || kind == PINNED || kind == ALONE_ONE || kind == BESIDE_ONE ? 1 : 5;
	cl.nbuffers = ndata;
	starpu_profiling_status_set(has_profiling(kind) ? STARPU_PROFILING_ENABLE
							: STARPU_PROFILING_DISABLE);
	if (first_all)
		starpu_pause();
	double start = starpu_timing_now();
	for (int i = 0; i < ntasks; i++)
		submit(i, kind == PINNED);
	double between = starpu_timing_now();
	if (first_all)
		starpu_resume();
	starpu_task_wait_for_all();
	double end = starpu_timing_now();
	for (unsigned w = 0; w < nworkers; w++) {
		kernels_us += of_worker[w].kernels_us;
		n_shared += of_worker[w].shared;
		n_data += of_worker[w].data;
	}
	return (struct measured){
		.submit_us = (between - start) / ntasks,
		.run_us = (nworkers * (end - (first_all ? between : start)) - kernels_us) / ntasks,
		.shared = n_shared / n_data,
	};
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t) n, sizeof(*v), ascending);
	return n ? v[n / 2] : -1;
}

/* By how much one kind of task takes longer than another: the median over rounds, 0 if that is
 * negative. */
static double more(double us[KINDS][MOST_ROUNDS], enum kind kind, enum kind than)
{
	double each[MOST_ROUNDS];
	for (int r = 0; r < rounds; r++)
		each[r] = us[kind][r] - us[than][r];
	return fmax(median(each, rounds), 0);
}

static void for_all_data(void (*func)(starpu_data_handle_t *, int *))
{
	for (int i = 0; i < NSETS; i++)
		for (int k = 0; k < 3; k++)
			func(&data[k * NSETS + i], &values[k * NSETS + i]);
}

static void new_datum(starpu_data_handle_t *h, int *value)
{
	starpu_variable_data_register(h, STARPU_MAIN_RAM, (uintptr_t) value, sizeof(*value));
}

static void end_datum(starpu_data_handle_t *h, int *value)
{
	(void) value;
	starpu_data_unregister(*h);
}

/* A process of its own, as programs are: what it needs for its tasks is in memory that it never
 * used, in the order of the tasks. */
static int be_program(enum kind kind, int to)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = (int) nworkers_of(kind);
	conf.ncuda = conf.nopencl = 0;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) || starpu_cpu_worker_get_count() != nworkers_of(kind)) {
		fputs("orrery-calibrate-node: no CPU worker could be started, so tasks cannot be timed; is STARPU_NCPU=0 set?\n",
		      stderr);
		return 1;
	}
	for (unsigned w = 0; w < nworkers_of(kind); w++) {
		double *memory = of_worker[w].memory = malloc(SWEPT);
		of_worker[w].sweep = sweep_of(kind) / sizeof(*memory);
		if (!memory) {
			fputs("orrery-calibrate-node: no memory for the kernels that are timed\n",
			      stderr);
			return 1;
		}
		/* Zeroes might be one page for all of it until a kernel writes. */
		for (size_t i = 0; i < SWEPT / sizeof(*memory); i++)
			memory[i] = 1;
	}
	for_all_data(new_datum);
	struct measured m = measure_kind(kind);
	for_all_data(end_datum);
	starpu_shutdown();
	return write(to, &m, sizeof(m)) != sizeof(m);
}

static int run_program(enum kind kind, int round)
{
	struct measured m;
	int ends[2], status = 1;
	pid_t child;

	if (pipe(ends))
		return -1;
	child = fork();
	if (!child) {
		close(ends[0]);
		_exit(be_program(kind, ends[1]));
	}
	close(ends[1]);
	ssize_t n = read(ends[0], &m, sizeof(m));
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child || status || n != sizeof(m))
		return -1;
	submit_us[kind][round] = m.submit_us;
	run_us[kind][round] = m.run_us;
	shared[kind][round] = m.shared;
	return 0;
}

/* The time that a task takes longer beside others than alone: for the task, for each of its data
 * that another worker used last (of data in a chain of tasks, hardly one is), and for profiling.
 * Nothing where one core is all there is. */
static void print_shared(void)
{
	double one = more(run_us, BESIDE_ONE, ALONE_ONE),
	       five = more(run_us, BESIDE_FIVE, ALONE_FIVE),
	       profiled = more(run_us, BESIDE_PROFILED, ALONE_PROFILED),
	       part_of_one = median(shared[BESIDE_ONE], rounds),
	       parts_of_five = 5 * median(shared[BESIDE_FIVE], rounds), chance = 1 - 1.0 / nbeside;
	double datum = parts_of_five > part_of_one
			       ? fmax(five - one, 0) / (parts_of_five - part_of_one)
			       : 0;
	printf("shared_us %.4f\nshared_datum_us %.4f\nshared_profile_us %.4f\n",
	       fmax(one - part_of_one * datum, 0) / chance, datum,
	       fmax(profiled - five, 0) / chance);
}

/*
 * What a worker does for a task is measured together, and so is submission: with one datum and with
 * five, whose difference is that of the data; what the policy has of it shows against tasks that
 * pass it by; and what profiling has, against tasks without it. Kinds take turns, so that a machine
 * whose speed changes does so for all. All of this is paid, so medians count, as for kernels means
 * do. Before the runtime has started here.
 */
static int measure_tasks(void)
{
	cpu_set_t cores;
	nbeside = sched_getaffinity(0, sizeof(cores), &cores) ? 1 : (unsigned) CPU_COUNT(&cores);
	nbeside = nbeside < MOST_WORKERS ? nbeside : MOST_WORKERS;
	for (int r = 0; r < rounds; r++)
		for (int kind = 0; kind < (nbeside > 1 ? KINDS : ALONE_FIVE + 1); kind++)
			if (run_program((enum kind) kind, r))
				return -1;
	double access = more(submit_us, FIVE, ONE) / 4, datum = more(run_us, FIVE, ONE) / 4;
	double sched = more(run_us, ONE, PINNED), profile = more(run_us, PROFILED, FIVE),
	       profile_submit = more(submit_us, PROFILED, FIVE);
	double reload = more(run_us, ALONE_FIVE, ALONE_SMALL),
	       reload_large = reload + more(run_us, ALONE_LARGE, ALONE_FIVE);
	double submit_one = median(submit_us[ONE], rounds), task = median(run_us[ONE], rounds);
	/* The kernels of these sweep what reload_us is for. */
	reload = fmin(reload, 0.5 * task);
	task = fmax(task - datum - reload, 0);
	sched = fmin(fmax(sched, 0.05 * task), 0.5 * task);
	printf("submit_us %.4f\naccess_us %.4f\nsched_us %.4f\ncomplete_us %.4f\ndatum_us %.4f\n",
	       fmax(submit_one - access, 0), access, sched, task - sched, datum);
	printf("reload_us %.4f\nreload_large_us %.4f\n", reload, reload_large);
	printf("profile_submit_us %.4f\nprofile_us %.4f\n", profile_submit, profile);
	if (nbeside > 1)
		print_shared();
	return fflush(stdout);
}

/* ---- copies between memories ---- */

/* Data of a device is copied by the device's side. */
static int copy(struct orr_process *proc, unsigned s, uintptr_t from, unsigned d, uintptr_t to,
		size_t size)
{
	const struct orr_memnode_ops *ops = proc->data->memnodes[d == STARPU_MAIN_RAM ? s : d]->ops;
	return ops->copy(proc, from, 0, s, to, 0, d, size, NULL);
}

/* flags: of the buffers. */
static double copy_us(struct orr_process *proc, unsigned s, unsigned d, size_t size, int repeat,
		      int flags)
{
	uintptr_t from = proc->data->memnodes[s]->ops->alloc(proc, s, size, flags),
		  to = proc->data->memnodes[d]->ops->alloc(proc, d, size, flags);
	double best = -1;
	for (int round = 0; from && to && round <= rounds; round++) {
		double start = starpu_timing_now();
		for (int i = 0; i < repeat; i++)
			if (copy(proc, s, from, d, to, size))
				goto out;
		double us = (starpu_timing_now() - start) / repeat;
		if (round && (best < 0 || us < best))
			best = us;
	}
out:
	if (from)
		proc->data->memnodes[s]->ops->release(proc, s, from, size, flags);
	if (to)
		proc->data->memnodes[d]->ops->release(proc, d, to, size, flags);
	return best;
}

static void measure_pair(struct orr_process *proc, unsigned s, unsigned d)
{
	double small = copy_us(proc, s, d, SMALL, COPIES, STARPU_MALLOC_PINNED),
	       big = copy_us(proc, s, d, BIG, 1, STARPU_MALLOC_PINNED);

	if (small > 0 && big > small) {
		printf("latency %u %u %.6f\n", s, d, small);
		printf("bandwidth %u %u %.6f\n", s, d, BIG / (big - small));
	}
	/* The same where the pool is not asked. */
	if (proc->data->pinned && (s == STARPU_MAIN_RAM || d == STARPU_MAIN_RAM)) {
		big = copy_us(proc, s, d, BIG, 1, 0);
		if (big > 0)
			printf("pageable %u %u %.6f\n", s, d, BIG / big);
	}
}

/* Devices of different kinds reach each other through main memory. */
static int is_pair(const struct orr_data *data, unsigned s, unsigned d)
{
	enum starpu_node_kind from = data->memnodes[s]->kind, to = data->memnodes[d]->kind;

	return s != d && (from == to || from == STARPU_CPU_RAM || to == STARPU_CPU_RAM);
}

/* A pair that cannot be measured is left out: the files say nan. */
static void measure_buses(struct orr_process *proc)
{
	for (unsigned s = 0; s < proc->data->nmemnodes; s++)
		for (unsigned d = 0; d < proc->data->nmemnodes; d++)
			if (is_pair(proc->data, s, d))
				measure_pair(proc, s, d);
}

/* ---- allocation and pinning ---- */

/* The time that the first copy of that many bytes to a buffer takes longer than the second one;
 * start: when what belongs to the first one began. */
static double first_us(struct orr_process *proc, unsigned node, uintptr_t buffer, const char *bytes,
		       size_t size, double start)
{
	copy(proc, STARPU_MAIN_RAM, (uintptr_t) bytes, node, buffer, size);
	double between = starpu_timing_now();
	copy(proc, STARPU_MAIN_RAM, (uintptr_t) bytes, node, buffer, size);
	double us = between - start - (starpu_timing_now() - between);
	return us > 0 ? us : 0;
}

/* The cost of a new buffer: of the allocation, with a first small copy because a device may put it
 * off until then, and of the first use of all of it, which counts where memory is found page by
 * page when it is written (PoCL's). All buffers exist at once: a device gives out again for less
 * what it has freed, and the runtime asks for more only when it has none to use again. Medians,
 * since a difference has no best; the first buffer counts what the device does but once. */
static int alloc_us(struct orr_process *proc, unsigned node, double *alloc, double *first)
{
	const struct orr_memnode_ops *ops = proc->data->memnodes[node]->ops;
	double allocs[MOST_ROUNDS + 1], firsts[MOST_ROUNDS + 1];
	uintptr_t buffers[MOST_ROUNDS + 1];
	char *bytes = calloc(1, BUFFER);
	int n = 0;

	for (; bytes && n <= rounds; n++) {
		double start = starpu_timing_now();
		buffers[n] = ops->alloc(proc, node, BUFFER, 0);
		if (!buffers[n])
			break;
		allocs[n] = first_us(proc, node, buffers[n], bytes, SMALL, start);
		firsts[n] = first_us(proc, node, buffers[n], bytes, BUFFER, starpu_timing_now());
	}
	for (int i = 0; i < n; i++)
		ops->release(proc, node, buffers[i], BUFFER, 0);
	free(bytes);
	if (n < 2)
		return 0;
	*alloc = median(allocs + 1, n - 1);
	*first = median(firsts + 1, n - 1);
	return 1;
}

/* A MiB of memory that is in use. */
static double pin_us(struct orr_process *proc, unsigned node)
{
	const struct orr_memnode_ops *ops = proc->data->memnodes[node]->ops;
	void *p = orr_sys_user_alloc(proc, BIG, 4096);
	double best = -1;

	if (!p)
		return -1;
	memset(p, 1, BIG);
	for (int round = 0; round < rounds; round++) {
		double start = starpu_timing_now();

		if (ops->pin(proc, node, p, BIG))
			break;
		double us = (starpu_timing_now() - start) / (BIG >> 20);

		ops->unpin(proc, node, p, BIG);
		if (best < 0 || us < best)
			best = us;
	}
	orr_sys_user_free(proc, p, BIG);
	return best;
}

static void measure_devices(struct orr_process *proc)
{
	unsigned ncuda = 0, nopencl = 0;
	double alloc = 0, first = 0, pin = -1;

	for (unsigned i = 1; i < proc->data->nmemnodes; i++) {
		const struct orr_memnode *m = proc->data->memnodes[i];

		if (m->kind != STARPU_CUDA_RAM && m->kind != STARPU_OPENCL_RAM)
			continue;
		int cuda = m->kind == STARPU_CUDA_RAM;
		unsigned id = cuda ? ncuda++ : nopencl++;
		double us, all_us;

		if (m->total >> 20)
			printf("memory %s%u %zu\n", cuda ? "cuda" : "opencl", id, m->total >> 20);
		if (alloc_us(proc, i, &us, &all_us)) {
			alloc = fmax(alloc, us);
			first = fmax(first, all_us);
		}
		if (pin < 0)
			pin = pin_us(proc, i);
	}
	if (ncuda + nopencl)
		printf("alloc_us %.3f\nfirst_us %.3f\n", alloc, first);
	if (pin >= 0)
		printf("pin_us %.3f\n", pin);
}

/* ---- launches ---- */

/* Functions of a codelet with a kernel that does nothing. */
#ifdef STARPU_USE_OPENCL
static struct starpu_opencl_program nothing;

static void nothing_on_opencl(void *buffers[], void *arg)
{
	size_t one = 1;
	cl_command_queue queue;
	cl_kernel kernel;
	(void) buffers;
	(void) arg;
	if (!nothing.programs[0])
		return; /* a device that is not OpenCL's */
	if (starpu_opencl_load_kernel(&kernel, &queue, &nothing, "nothing",
				      starpu_worker_get_devid(starpu_worker_get_id())) ||
	    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL))
		abort();
	starpu_opencl_release_kernel(kernel);
}

static void load_nothing(struct orr_process *proc)
{
	if (proc->opencl &&
	    starpu_opencl_load_opencl_from_string("__kernel void nothing(void) {}", &nothing, NULL))
		fputs("orrery-calibrate-node: no kernel can be compiled, so what is launched is empty\n",
		      stderr);
}

static void unload_nothing(void)
{
	if (nothing.programs[0])
		starpu_opencl_unload_opencl(&nothing);
}
#else
static void nothing_on_opencl(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static void load_nothing(struct orr_process *proc)
{
	(void) proc;
}

static void unload_nothing(void) {}
#endif

/* CUDA fills memory by a kernel. */
static void nothing_on_cuda(void *buffers[], void *arg)
{
	union {
		void *p;
		int (*f)(void *at, int value, size_t size, void *stream);
	} fill = { arg };
	if (!fill.p)
		return; /* a device that is not CUDA's */
	const struct orr_cu_device *d = orr_thread_self()->worker->driver_arg;
	if (fill.f((void *) STARPU_VARIABLE_GET_PTR(buffers[0]), 0, 1, d->worker[0].stream))
		abort();
}

/* The time from the start of an empty kernel on an idle device until its end is noticed: what a
 * measured duration of a kernel contains besides the kernel. The median. */
static double launch_us(unsigned worker)
{
	struct starpu_codelet empty = { .cuda_funcs = { nothing_on_cuda },
					.cuda_flags = { STARPU_CUDA_ASYNC },
					.opencl_funcs = { nothing_on_opencl },
					.opencl_flags = { STARPU_OPENCL_ASYNC },
					.nbuffers = 1,
					.modes = { STARPU_RW } };
	struct orr_process *proc = orr_self();
	void *fill = proc->cuda ? dlsym(proc->cuda->api.library, "cudaMemsetAsync") : NULL;
	double each[LAUNCHES];
	starpu_data_handle_t h;
	int value = 0;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	for (int i = 0; i < LAUNCHES; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &empty;
		task->handles[0] = h;
		task->cl_arg = fill;
		task->execute_on_a_specific_worker = 1;
		task->workerid = worker;
		task->detach = task->destroy = 0;
		if (starpu_task_submit(task) || starpu_task_wait(task))
			abort();
		struct starpu_profiling_task_info *info = task->profiling_info;
		each[i] = starpu_timing_timespec_delay_us(&info->start_time, &info->end_time);
		starpu_task_destroy(task);
	}
	starpu_data_unregister(h);
	return median(each, LAUNCHES);
}

static void measure_launches(struct orr_process *proc)
{
	double most = -1;

	load_nothing(proc);
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	for (unsigned w = 0, before = STARPU_MAIN_RAM; w < starpu_worker_get_count(); w++) {
		enum starpu_worker_archtype arch = starpu_worker_get_type((int) w);
		unsigned node = starpu_worker_get_memory_node(w);

		/* The first worker of each device. */
		if (node != before && (arch == STARPU_CUDA_WORKER || arch == STARPU_OPENCL_WORKER))
			most = fmax(most, launch_us(w));
		before = node;
	}
	starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
	unload_nothing();
	if (most >= 0)
		printf("launch_us %.3f\n", most);
}

/* ---- threads that wake ---- */

static int napping; /* atomic */

/* Wakes every 50 us, as a thread does that looks for messages. */
static void *nap(void *arg)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	unsigned long *n = arg;
	prctl(PR_SET_TIMERSLACK, 1000UL);
	for (*n = 0; __atomic_load_n(&napping, __ATOMIC_RELAXED); ++*n)
		nanosleep(&pause, NULL);
	return NULL;
}

static double compute_us(void)
{
	double start = starpu_timing_now();
	volatile double x = 1;
	for (long i = 0; i < 5000000; i++)
		x = x * 0.999 + 0.001;
	return starpu_timing_now() - start;
}

/* The time that each wake of another thread takes from one that computes on the same core: the
 * median, a difference has no best. */
static void measure_wake(void)
{
	cpu_set_t before, one;
	double each[MOST_ROUNDS];
	int n_each = 0;
	if (sched_getaffinity(0, sizeof(before), &before))
		return;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int r = 0; r < rounds; r++) {
		unsigned long n = 0;
		pthread_t thread;
		double alone = compute_us();
		napping = 1;
		if (pthread_create(&thread, NULL, nap, &n))
			break;
		double us = compute_us();
		__atomic_store_n(&napping, 0, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		each[n_each++] = n && us > alone ? (us - alone) / (double) n : 0;
	}
	sched_setaffinity(0, sizeof(before), &before);
	printf("wake_us %.4f\n", n_each ? median(each, n_each) : 0);
}

/* ---- threads that want the same core ---- */

static void *want(void *arg)
{
	volatile double x = 1;
	(void) arg;
	while (__atomic_load_n(&napping, __ATOMIC_RELAXED))
		x = x * 0.999 + 0.001;
	return NULL;
}

/* The time that one of two threads which compute on the same core keeps it from the other one: the
 * median of the gaps in what that sees of the clock. */
static void measure_turn(void)
{
	enum { GAPS = 6 * MOST_ROUNDS + 11, LONGEST_US = 2000000, SHORTEST_US = 30 };
	cpu_set_t before, one;
	double gap[GAPS], start = starpu_timing_now(), last = start;
	pthread_t thread;
	int n = 0;
	if (sched_getaffinity(0, sizeof(before), &before))
		return;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	napping = 1;
	if (!pthread_create(&thread, NULL, want, NULL)) {
		while (n < 6 * rounds + 11 && last - start < LONGEST_US) {
			double now = starpu_timing_now();
			if (now - last > SHORTEST_US)
				gap[n++] = now - last;
			last = now;
		}
		__atomic_store_n(&napping, 0, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
	}
	sched_setaffinity(0, sizeof(before), &before);
	if (n)
		printf("turn_us %.1f\n", median(gap, n));
}

/* A copy of a message out of a buffer that has lain there: 32 KiB a time, from memory that is not
 * in the caches, to memory that is. For 1 MiB. */
static void measure_buffer(void)
{
	enum { LENGTH = 32 << 10, AT_ONCE = 32, FROM = 64 << 20 };
	char *from = malloc(FROM), *to = malloc(LENGTH);
	double best = INFINITY;
	if (from && to) {
		memset(from, 1, FROM);
		memset(to, 1, LENGTH);
		for (int r = 0; r < 2 * rounds; r++) {
			const char *at = from + (size_t) r * LENGTH * AT_ONCE % FROM;
			double start = starpu_timing_now();
			for (int i = 0; i < AT_ONCE; i++) {
				memcpy(to, at + (size_t) i * LENGTH, LENGTH);
				__asm__ volatile("" : : "r"(to) : "memory");
			}
			best = fmin(best, starpu_timing_now() - start);
		}
		printf("buffer_us %.3f\n", best);
	}
	free(from);
	free(to);
}

int main(int argc, char **argv)
{
	struct starpu_conf conf;
	if (argc > 1)
		rounds = atoi(argv[1]);
	if (argc > 2 || rounds < 1 || rounds > MOST_ROUNDS) {
		fprintf(stderr, "orrery-calibrate-node: it takes a number of rounds, 1 to %d\n",
			MOST_ROUNDS);
		return 2;
	}
	if (measure_tasks())
		return 1; /* who could not do it has said why */
	starpu_conf_init(&conf);
	int ret = starpu_init(&conf);
	if (ret) {
		fprintf(stderr, "orrery-calibrate-node: the runtime did not start (%s)\n",
			strerror(-ret));
		return 1;
	}
	struct orr_process *proc = orr_self();
	printf("ncpus %u\nnnuma %u\nncuda %u\nnopencl %u\n", proc->topo.ncores,
	       starpu_memory_nodes_get_numa_count(),
	       starpu_memory_nodes_get_count_by_kind(STARPU_CUDA_RAM),
	       starpu_memory_nodes_get_count_by_kind(STARPU_OPENCL_RAM));
	measure_buses(proc);
	measure_devices(proc);
	measure_launches(proc);
	measure_wake();
	measure_turn();
	measure_buffer();
	starpu_shutdown();
	return fflush(stdout) != 0;
}
