/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Performance models: how long kernels and transfers take on which unit.
 *
 * The files are those of StarPU's calibration (text, version 45):
 * bus/HOST.{config,bandwidth,latency,affinity} and codelets/45/SYMBOL.HOST. Invariant: a model once
 * loaded is immutable except through orr_perf_record; loaded files are shared by all ranks of a
 * simulated run. */
#ifndef ORR_PERF_PERF_H
#define ORR_PERF_PERF_H

#include "core/core.h"

#define ORR_MAX_KERNELS 32

/* A machine described by measurements. Immutable after loading. */
struct orr_machine {
	char *name; /* HOST in the file names */
	char *dir;  /* the directory that holds bus/ and codelets/ */
	unsigned ncpus, ncuda, nopencl;
	unsigned nnuma;              /* rows of main memory: one for each NUMA node */
	unsigned nmemnodes;          /* these + one per device */
	double *bandwidth;           /* MB/s, [src * nmemnodes + dst]; 0 on the diagonal */
	double *latency;             /* microseconds, likewise */
	double costs_us[ORR_NCOSTS]; /* what the runtime itself takes there; NAN: not measured */
	size_t *memory; /* bytes of the memory of each CUDA, then OpenCL device, 0: not told; NULL
			   without devices */
	unsigned nkernels;  /* kernels that a device executes at once, 0: not told */
	double link_mbs[2]; /* MB/s of what all devices share: [0] from main memory, [1] to it; 0:
			       not told */
	double idle_watts, watts[STARPU_NARCH]; /* of the idle machine, and on top of a busy unit;
						   0: not told */
	double alloc_us;    /* what allocating a buffer on a device takes; NAN: not told */
	double disk_mbs[2]; /* MB/s of a disk: [0] reading, [1] writing; 0: not told */
	double disk_us; /* what each of its transfers takes before the first byte; NAN: not told */
};

/* Loads the machine `name` from the first of the directories that has bus/NAME.config. dirs is
 * NULL-terminated. Returns 0 and *out, or -ENOENT / -EINVAL after a message that names file, line
 * and remedy. Files without bandwidth/latency are valid (CPU only). */
int orr_machine_load(const char *name, const char *const *dirs, struct orr_machine **out);
void orr_machine_free(struct orr_machine *m);
/* The readers behind it, of a text that they destroy; `path` is for messages. config sets the
 * numbers of units and *nmain, the number of rows that stand for main memory. matrix[n * n] gets
 * the first n rows and columns, with a zero diagonal. 0 or -EINVAL. */
int orr_machine_parse_config(char *text, const char *path, struct orr_machine *m, unsigned *nmain);
int orr_machine_parse_matrix(char *text, const char *path, unsigned n, double *matrix);
/* Lines "submit_us 0.11", each at most once; costs that no line names are NAN. */
int orr_machine_parse_costs(char *text, const char *path, double costs_us[ORR_NCOSTS]);
/* Lines "cuda0 5375 MiB", "opencl0 2048 MiB", "link_in 6000 MB/s", "link_out 6000 MB/s", "alloc 100
 * us", "kernels 4 streams", "disk_read 2000 MB/s", "disk_write 1000 MB/s" and "disk_latency 100
 * us", each at most once. m->memory has room for m->ncuda + m->nopencl sizes, which are 0, as are
 * m->link_mbs and m->disk_mbs; m->alloc_us and m->disk_us are NAN. */
int orr_machine_parse_memory(char *text, const char *path, struct orr_machine *m);

/* Lines "idle 80 W", "cpu 8 W", "cuda 150 W", "opencl 150 W", each at most once (machine_power.c).
 */
int orr_machine_parse_power(char *text, const char *path, struct orr_machine *m);

/* Tells which machine this process runs on; its models and buses come from m->dir first, and its
 * name replaces orr_sys_machine_name(). For a simulated run; to be called before the first
 * estimate. m must outlive orr_perf_exit and may be shared by many processes. Without this, the
 * real machine's measurements are looked for at the first question about transfers. 0 or -ENOMEM.
 */
int orr_perf_set_machine(struct orr_process *proc, struct orr_machine *m);

/* What the models know of a worker: the "arch" of a model file. */
struct orr_perf_unit {
	enum starpu_worker_archtype type;
	int devid;
	int ncores;
};

/* Where an estimate came from, best first (design.md, "Cost of a kernel"). */
enum orr_perf_source {
	ORR_PERF_CALIBRATED,
	ORR_PERF_BY_SIZE,
	ORR_PERF_COST_FUNCTION,
	ORR_PERF_FLOPS,
	ORR_PERF_DEFAULT,
	ORR_PERF_UNKNOWN,
	ORR_PERF_NSOURCES
};

/* Start and end of a process's models; init reads nothing yet, exit writes what was learnt and
 * resets the program's models. */
int orr_perf_init(struct orr_process *proc);
void orr_perf_exit(struct orr_process *proc);

/* Expected duration in microseconds of implementation nimpl of task t on unit u. In this order: the
 * calibrated model by footprint hash; by size (the entry of the same size, noted once per model;
 * else interpolation of flops or size between entries); the codelet's own cost function; t->flops
 * over the unit's speed; a default (both only if use_defaults: a simulated run must have a
 * duration). *source (may be NULL) tells which. Returns NAN when nothing is known and use_defaults
 * is 0. */
double orr_perf_expected_us(struct orr_process *proc, const struct orr_perf_unit *u,
			    struct starpu_task *t, unsigned nimpl, int use_defaults,
			    enum orr_perf_source *source);
/* Joules of the task on a unit: what its energy model tells; without one, the watts of a busy unit
 * of that kind for us microseconds, where the machine's are known. NAN when neither is, or us is
 * NAN. */
double orr_perf_expected_joules(struct orr_process *proc, const struct orr_perf_unit *unit,
				struct starpu_task *task, unsigned nimpl, double us);
/* The same, with defaults, and the standard deviation of the measurements behind it; 0 when it was
 * not measured. */
double orr_perf_spread_us(struct orr_process *proc, const struct orr_perf_unit *u,
			  struct starpu_task *t, unsigned nimpl, enum orr_perf_source *source,
			  double *deviation_us);
/* Does the model's file tell how long kernels take on that unit, of that type (a CUDA or OpenCL
 * device)? unit NULL: on any of the type. */
int orr_perf_knows(struct orr_process *proc, struct starpu_perfmodel *model,
		   enum starpu_worker_archtype type, const struct orr_perf_unit *unit);
/* Records a measurement (calibration); thread-safe. */
void orr_perf_record(struct orr_process *proc, const struct orr_perf_unit *u, struct starpu_task *t,
		     unsigned nimpl, double us);
/* Speed in flop/s assumed for a unit without a model, from the machine's measurements when
 * possible. */
double orr_perf_default_flops(const struct orr_perf_unit *u);

/* Assumed of disks, and of buses, that nobody described. */
#define ORR_PERF_DISK_READ_MBS 2000.0
#define ORR_PERF_DISK_WRITE_MBS 1000.0
#define ORR_PERF_DISK_US 100.0
#define ORR_PERF_BUS_MBS 8000.0
#define ORR_PERF_BUS_US 10.0

/* Expected duration in microseconds of a transfer between memory nodes, from the machine's bus
 * measurements; NAN when unknown. From and to a disk: as described, else as assumed; between a disk
 * and a device by way of main memory. */
double orr_perf_transfer_us(struct orr_process *proc, unsigned src, unsigned dst, size_t size);

/* The footprint of the task: CRC over the footprints of its data, or the model's own function. */
uint32_t orr_task_footprint(struct orr_task *t, unsigned nimpl);

#endif
