/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Performance models of codelets, and predictions of transfers between memory
 * nodes.
 *
 * Invariant: a model never answers zero for "unknown"; predictions that cannot
 * be made are NaN. Times are in microseconds, bandwidths in MB/s (10^6 bytes),
 * latencies in microseconds, energies in joules, sizes in bytes.
 */
#ifndef STARPU_PERFMODEL_H
#define STARPU_PERFMODEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <starpu_config.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_task;
struct starpu_data_descr;
struct starpu_perfmodel;

/* One kind of unit of an architecture: ncores of device devid (0 for CPUs). */
struct starpu_perfmodel_device {
	enum starpu_worker_archtype type;
	int devid;
	int ncores;
};

/* The unit that executes a task: one device, or several for a combined worker. */
struct starpu_perfmodel_arch {
	int ndevices;
	struct starpu_perfmodel_device *devices;
};

/* Measurements of one footprint on one architecture. */
struct starpu_perfmodel_history_entry {
	double mean;      /* µs */
	double deviation; /* µs, of the population */
	double sum;       /* sum of the times, µs */
	double sum2;      /* sum of their squares */
	unsigned nsample;
	unsigned nerror;    /* samples dropped since, as too far from the mean */
	uint32_t footprint; /* hash of the shapes of the task's data */
	size_t size;        /* bytes of data, or what size_base says */
	double flops;       /* of one execution, 0 when not told */
	double duration;    /* µs, latest sample */
	double *parameters; /* model->nparameters values, or NULL */
	void *tag;          /* free for the model's user */
};

struct starpu_perfmodel_history_list {
	struct starpu_perfmodel_history_list *next;
	struct starpu_perfmodel_history_entry *entry;
};

/*
 * Fits over the sizes measured. Power law: t = alpha * size^beta. Non-linear:
 * t = a * size^b + c. Multiple linear: t = sum of coeff[i] * product of powers of
 * the parameters, as model->combinations says; coeff[0] is the constant.
 */
struct starpu_perfmodel_regression_model {
	double sumlny, sumlnx, sumlnx2, sumlnxlny; /* sums over ln t and ln size */
	unsigned long minx, maxx;                  /* range of sizes measured */
	double alpha, beta;
	unsigned valid; /* alpha and beta hold */
	double a, b, c;
	unsigned nl_valid; /* a, b and c hold */
	unsigned nsample;
	double *coeff; /* ncoeff values */
	unsigned ncoeff;
	unsigned multi_valid; /* coeff holds */
};

typedef double (*starpu_perfmodel_per_arch_cost_function)(struct starpu_task *task,
							  struct starpu_perfmodel_arch *arch,
							  unsigned nimpl);
typedef size_t (*starpu_perfmodel_per_arch_size_base)(struct starpu_task *task,
						      struct starpu_perfmodel_arch *arch,
						      unsigned nimpl);

struct starpu_perfmodel_history_table;

/* The measurements and fits of one implementation on one architecture. Owned by the model. */
struct starpu_perfmodel_per_arch {
	/* STARPU_PER_ARCH: set by the program. */
	starpu_perfmodel_per_arch_cost_function cost_function;
	starpu_perfmodel_per_arch_size_base size_base;
	struct starpu_perfmodel_history_table *history; /* by footprint; private */
	struct starpu_perfmodel_history_list *list;     /* the same entries */
	struct starpu_perfmodel_regression_model regression;
	char debug_path[256];
};

enum starpu_perfmodel_type {
	STARPU_PERFMODEL_INVALID = 0,
	STARPU_PER_WORKER,               /* worker_cost_function */
	STARPU_PER_ARCH,                 /* arch_cost_function, or per-architecture functions */
	STARPU_COMMON,                   /* cost_function, scaled by the speed of the unit */
	STARPU_HISTORY_BASED,            /* mean of the measurements of the footprint */
	STARPU_REGRESSION_BASED,         /* power law of the size */
	STARPU_NL_REGRESSION_BASED,      /* power law plus constant, history where calibrated */
	STARPU_MULTIPLE_REGRESSION_BASED /* combination of the program's parameters */
};

/* Private part of a model; NULL before its first use. */
typedef struct _starpu_perfmodel_state *starpu_perfmodel_state_t;

/*
 * A model: the program fills type and, by type, symbol or a function, leaves
 * the rest zero, and keeps the structure alive until starpu_shutdown(). The
 * functions may be called by any thread, concurrently; they must not block.
 */
struct starpu_perfmodel {
	enum starpu_perfmodel_type type;
	/* Expected time of the task, µs. */
	double (*cost_function)(struct starpu_task *, unsigned nimpl);
	double (*arch_cost_function)(struct starpu_task *, struct starpu_perfmodel_arch *arch,
				     unsigned nimpl);
	double (*worker_cost_function)(struct starpu_task *, unsigned workerid, unsigned nimpl);
	/* Size that regressions and lookups use; bytes of all the task's data when NULL. */
	size_t (*size_base)(struct starpu_task *, unsigned nimpl);
	/* A hash; tasks with the same one share a history. NULL: a hash of the data's shapes. */
	uint32_t (*footprint)(struct starpu_task *);
	/* Name of the model, hence of its files. */
	const char *symbol;
	/* Private. */
	unsigned is_loaded;
	unsigned benchmarking;
	unsigned is_init;
	/* Multiple regression: fill nparameters values; their names; ncombinations rows of
	 * nparameters exponents. */
	void (*parameters)(struct starpu_task *task, double *parameters);
	const char **parameters_names;
	unsigned nparameters;
	unsigned **combinations;
	unsigned ncombinations;
	/* Private. */
	char path[256];
	starpu_perfmodel_state_t state;
};

/* A model for codelets that take no time worth modelling. */
extern struct starpu_perfmodel starpu_perfmodel_nop;

/* --- Life cycle and files ------------------------------------------------------------ */

/* For tools that read models without starpu_init(): call it first. */
void starpu_perfmodel_initialize(void);
/* Prepare a model; otherwise its first use does. Loads nothing. */
void starpu_perfmodel_init(struct starpu_perfmodel *model);
/* Free the private part; the structure may be used afresh. */
int starpu_perfmodel_deinit(struct starpu_perfmodel *model);
/* Read a file / the file of `symbol` on this machine into a zeroed model. 0, -ENOENT, or -EINVAL
 * when malformed. */
int starpu_perfmodel_load_file(const char *filename, struct starpu_perfmodel *model);
int starpu_perfmodel_load_symbol(const char *symbol, struct starpu_perfmodel *model);
/* Free what a load function allocated. */
int starpu_perfmodel_unload_model(struct starpu_perfmodel *model);
/* Write the model's file now; starpu_shutdown() does it for every model that learned something. */
void starpu_save_history_based_model(struct starpu_perfmodel *model);
/* Path of the symbol's file on this machine, existing or not, truncated to maxlen bytes with the
 * final zero. */
void starpu_perfmodel_get_model_path(const char *symbol, char *path, size_t maxlen);
/* Path for an exported file of one architecture. */
void starpu_perfmodel_debugfilepath(struct starpu_perfmodel *model,
				    struct starpu_perfmodel_arch *arch, char *path, size_t maxlen,
				    unsigned nimpl);
/* Print: the model as XML; the names of all models found; the folder they are written to. */
void starpu_perfmodel_dump_xml(FILE *output, struct starpu_perfmodel *model);
int starpu_perfmodel_list(FILE *output);
void starpu_perfmodel_directory(FILE *output);

/* --- Architectures ------------------------------------------------------------------- */

/* Architecture of a worker or combined worker; owned by the runtime. */
struct starpu_perfmodel_arch *starpu_worker_get_perf_archtype(int workerid, unsigned sched_ctx_id);
/* Combinations of devices that models know: count; number of a combination (-1: unknown); the
 * combination itself. */
int starpu_perfmodel_get_narch_combs(void);
int starpu_perfmodel_arch_comb_add(int ndevices, struct starpu_perfmodel_device *devices);
int starpu_perfmodel_arch_comb_get(int ndevices, struct starpu_perfmodel_device *devices);
struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb);
/* "cpu", "cuda", ...; a constant. */
const char *starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype);
/* Such as "cpu0_impl0", truncated to maxlen bytes. */
void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch, char *archname,
				    size_t maxlen, unsigned nimpl);

/*
 * Per-architecture part of a model; created when missing. The variable
 * arguments are groups of int: type, devid, ncores, and -1 at the end. The
 * setters return 0, or -ENOMEM.
 */
struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_arch(
	struct starpu_perfmodel *model, struct starpu_perfmodel_arch *arch, unsigned impl);
struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_devices(
	struct starpu_perfmodel *model, int impl, ...);
int starpu_perfmodel_set_per_devices_cost_function(struct starpu_perfmodel *model, int impl,
						   starpu_perfmodel_per_arch_cost_function func,
						   ...);
int starpu_perfmodel_set_per_devices_size_base(struct starpu_perfmodel *model, int impl,
					       starpu_perfmodel_per_arch_size_base func, ...);

/* --- Learning and predicting --------------------------------------------------------- */

/* Add one measurement (µs) as if the task had run / the mean of `number` of them. */
void starpu_perfmodel_update_history(struct starpu_perfmodel *model, struct starpu_task *task,
				     struct starpu_perfmodel_arch *arch, unsigned cpuid,
				     unsigned nimpl, double measured);
void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model, struct starpu_task *task,
				       struct starpu_perfmodel_arch *arch, unsigned cpuid,
				       unsigned nimpl, double average_measured, unsigned number);
/* Mean over implementations of the measurements of a footprint, µs; NaN when there are none. */
double starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
						    struct starpu_perfmodel_arch *arch,
						    uint32_t footprint);

/* Measure the energy that all workers of a type (workerid -1), or one, use between the two calls.
 * stop divides it by ntasks and enters it in the model, unless that is NULL, in joules, as if
 * `task` had run on that type or worker. A real run reads the processors' counters (Linux:
 * powercap, package domains), which do not know workers; a simulated run adds up the energy of
 * tasks and of the idle machine, by energy models and the machine's description. 0, or after a
 * message: -ENODEV when nothing measures this type, -EACCES when the counters may not be read,
 * -EINVAL for one worker of several or for stop without start, -EBUSY when start was called before.
 */
int starpu_energy_start(int workerid, enum starpu_worker_archtype archi);
int starpu_energy_stop(struct starpu_perfmodel *model, struct starpu_task *task, unsigned nimpl,
		       unsigned ntasks, int workerid, enum starpu_worker_archtype archi);

/* --- Links between memory nodes ------------------------------------------------------ */

/* MB/s, µs, and µs for `size` bytes; NaN when the link was never measured. */
double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node);
double starpu_transfer_latency(unsigned src_node, unsigned dst_node);
double starpu_transfer_predict(unsigned src_node, unsigned dst_node, size_t size);
/* Tables of all links, affinities of units to nodes, and the files these come from. */
void starpu_bus_print_bandwidth(FILE *f);
void starpu_bus_print_affinity(FILE *f);
void starpu_bus_print_filenames(FILE *f);

/* Free the models that were loaded and that nothing uses; they are loaded again when they are
 * needed. Nothing is kept that could be freed before starpu_shutdown(), so this frees nothing. */
void starpu_perfmodel_free_sampling(void);
/* Refused with a message (-ENOSYS): `orrery perfmodel` prints models. */
void starpu_perfmodel_print(struct starpu_perfmodel *model, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl, char *parameter, uint32_t *footprint, FILE *output);
int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch, char *parameter,
			       uint32_t *footprint, FILE *output);
int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model, uint32_t footprint,
				       FILE *output);
int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
