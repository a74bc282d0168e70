/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the environment into struct orr_config. The table below is the list of variables that the
 * runtime knows.
 *
 * Invariant: a value that cannot be read is an error naming the variable, never silently ignored
 * (tests/bad/env_*.c try). */
#include "base/process.h"
#include "base/config.h"
#include "base/numbers.h"
#include "base/assert.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* INT may be -1 ("the runtime chooses"), COUNT and LONG may not be negative, SIGNED may; DOUBLE is
 * finite; NAME goes into names of files. */
enum kind { INT, COUNT, LONG, SIGNED, ULONG, BOOL, DOUBLE, STRING, NAME, MIB, PERCENT };

static const struct variable {
	const char *name;
	enum kind kind;
	size_t offset;
	double dflt;
} variables[] = {
#define V(NAME, KIND, FIELD, DFLT) \
	{ \
		NAME, KIND, offsetof(struct orr_config, FIELD), DFLT \
	}
	V("STARPU_NCPUS", INT, ncpu, -1), /* the old spelling: the next line wins */
	V("STARPU_NCPU", INT, ncpu, NAN),
	V("STARPU_RESERVE_NCPU", COUNT, reserve_ncpu, 0),
	V("STARPU_WORKERS_GETBIND", BOOL, getbind, 1),
	V("STARPU_WORKERS_NOBIND", BOOL, nobind, 0),
	V("STARPU_NTHREADS_PER_CORE", COUNT, nthreads_per_core, 1),
	V("STARPU_MAIN_THREAD_BIND", BOOL, main_thread_bind, 0),
	V("STARPU_MAIN_THREAD_COREID", INT, main_thread_cpuid,
	  -1), /* units are cores, or as STARPU_NTHREADS_PER_CORE says */
	V("STARPU_MAIN_THREAD_CPUID", INT, main_thread_cpuid, NAN),
	V("STARPU_WORKERS_CPUID", STRING, workers_cpuid, 0),
	V("STARPU_WORKERS_COREID", STRING, workers_coreid, 0),
	V("STARPU_HWLOC_INPUT", STRING, hwloc_input, 0),
	V("STARPU_DISPLAY_BINDINGS", COUNT, display_bindings, 0),
	V("ORRERY_FAKE_DEVICES", INT, fake_devices, 0),
	V("ORRERY_FAKE_OPENCL", INT, fake_opencl, 0),
	V("ORRERY_FAKE_COPY_MBS", DOUBLE, fake_copy_mbs, 0),
	V("ORRERY_FAKE_KERNEL_US", DOUBLE, fake_kernel_us, 0),
	V("STARPU_OPENCL_ON_CPUS", BOOL, opencl_on_cpus, 0),
	V("STARPU_OPENCL_ONLY_ON_CPUS", BOOL, opencl_only_on_cpus, 0),
	V("STARPU_WORKERS_OPENCLID", STRING, workers_openclid, 0),
	V("ORRERY_OPENCL_PARTS", COUNT, opencl_parts, 1),
	V("STARPU_WORKERS_CUDAID", STRING, workers_cudaid, 0),
	V("ORRERY_CUDART", STRING, cudart, 0),
	V("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", BOOL, cuda_peer, 1),
	V("STARPU_CUDA_PIPELINE", INT, cuda_pipeline, 2),
	V("STARPU_OPENCL_PIPELINE", INT, opencl_pipeline, 2),
	V("STARPU_NWORKER_PER_CUDA", INT, nworker_per_cuda, 1),
	V("STARPU_SCHED", STRING, sched, 0),
	V("STARPU_SCHED_LIB", STRING, sched_lib, 0),
	V("STARPU_PROF_TOOL", STRING, prof_tool, 0),
	V("STARPU_PREFETCH", BOOL, prefetch, 1),
	V("STARPU_WORKER_TREE", BOOL, worker_tree, 0),
	V("STARPU_HETEROPRIO_USE_LA", BOOL, heteroprio_locality, 0),
	V("STARPU_SCHED_READY", INT, sched_ready, -1),
	V("STARPU_SCHED_SORTED_ABOVE", INT, sched_sorted_above, -1),
	V("STARPU_SCHED_SORTED_BELOW", INT, sched_sorted_below, -1),
	V("STARPU_NTASKS_THRESHOLD", COUNT, ntasks_threshold, 2),
	V("STARPU_EXP_LEN_THRESHOLD", DOUBLE, exp_len_threshold, 1e9),
	V("STARPU_SCHED_ALPHA", DOUBLE, alpha, 1),
	V("STARPU_SCHED_BETA", DOUBLE, beta, 1),
	V("STARPU_SCHED_GAMMA", DOUBLE, gamma, 1000),
	V("STARPU_IDLE_POWER", DOUBLE, idle_power, 0),
	V("STARPU_DISABLE_KERNELS", BOOL, disable_kernels, 0),
	V("STARPU_LIMIT_MAX_SUBMITTED_TASKS", LONG, max_submitted, 0),
	V("STARPU_LIMIT_MIN_SUBMITTED_TASKS", LONG, min_submitted, 0),
	V("STARPU_RAND_SEED", ULONG, rand_seed, 0),
	V("STARPU_CALIBRATE", COUNT, calibrate, 0),
	V("STARPU_CALIBRATE_MINIMUM", COUNT, calibrate_minimum, 10),
	V("STARPU_BUS_CALIBRATE", BOOL, bus_calibrate, 0),
	V("STARPU_HISTORY_MAX_ERROR", DOUBLE, history_max_error, 50),
	V("STARPU_PERF_MODEL_DIR", STRING, perf_model_dir, 0),
	V("STARPU_PERF_MODEL_PATH", STRING, perf_model_path, 0),
	V("STARPU_HOSTNAME", NAME, hostname, 0),
	V("STARPU_MPI_HOSTNAMES", NAME, mpi_hostnames, 0),
	V("STARPU_PERF_MODEL_HOMOGENEOUS_CPU", BOOL, homogeneous_cpu, 1),
	V("STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", BOOL, homogeneous_cuda, 0),
	V("STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL", BOOL, homogeneous_opencl, 0),
	V("STARPU_PERF_MODEL_HOMOGENEOUS_MPI_MS", BOOL, homogeneous_mpi_ms, 0),
	V("STARPU_DISABLE_ASYNCHRONOUS_COPY", INT, no_async_copy, -1),
	V("STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY", INT, no_async_cuda_copy, -1),
	V("STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY", INT, no_async_opencl_copy, -1),
	V("STARPU_DISABLE_ASYNCHRONOUS_MPI_MS_COPY", INT, no_async_mpi_ms_copy, -1),
	V("STARPU_DISABLE_PINNING", BOOL, disable_pinning, 0),
	V("ORRERY_PINNED_KEEP", MIB, pinned_keep, (size_t) 256 << 20),
	V("STARPU_ENABLE_MAP", INT, enable_map, -1),
	V("STARPU_USE_NUMA", BOOL, use_numa, 0),
	V("STARPU_LIMIT_CPU_MEM", MIB, limit_cpu_mem, 0),
	V("STARPU_LIMIT_CPU_NUMA_MEM", MIB, limit_numa_mem, 0),
	V("STARPU_LIMIT_CUDA_MEM", MIB, limit_cuda_mem, 0),
	V("STARPU_LIMIT_OPENCL_MEM", MIB, limit_opencl_mem, 0),
	V("STARPU_MINIMUM_AVAILABLE_MEM", PERCENT, minimum_available_mem, 0),
	V("STARPU_TARGET_AVAILABLE_MEM", PERCENT, target_available_mem, 0),
	V("STARPU_MINIMUM_CLEAN_BUFFERS", PERCENT, minimum_clean_buffers, 5),
	V("STARPU_TARGET_CLEAN_BUFFERS", PERCENT, target_clean_buffers, 10),
	V("STARPU_DISK_SWAP", STRING, disk_swap, 0),
	V("STARPU_DISK_SWAP_BACKEND", STRING, disk_swap_backend, 0),
	V("STARPU_DISK_SWAP_SIZE", MIB, disk_swap_size, 0),
	V("STARPU_MPI_CACHE", BOOL, mpi_cache, 1),
	V("STARPU_MPI_CACHE_STATS", BOOL, mpi_cache_stats, 0),
	V("STARPU_MPI_COMM", BOOL, mpi_comm_trace, 0),
	V("STARPU_COMM_STATS", BOOL, mpi_stats, 0), /* the old name: the next line wins */
	V("STARPU_MPI_STATS", BOOL, mpi_stats, NAN),
	V("STARPU_MPI_COOP_SENDS", BOOL, mpi_coop_sends, 1),
	V("STARPU_MPI_PRIORITIES", BOOL, mpi_priorities, 1),
	V("STARPU_MPI_NDETACHED_SEND", INT, mpi_ndetached_send, 10),
	V("STARPU_MPI_NREADY_PROCESS", INT, mpi_nready_process, 10),
	V("STARPU_MPI_FAKE_SIZE", INT, mpi_fake_size, -1),
	V("STARPU_MPI_FAKE_RANK", INT, mpi_fake_rank, -1),
	V("ORRERY_MPI_FAKE_PEERS", INT, mpi_fake_peers, 20),
	V("STARPU_MPI_EAGER_LIMIT", LONG, mpi_eager_limit, 4096),
	V("STARPU_MPI_THREAD_COREID", INT, mpi_thread_cpuid, -1),
	V("STARPU_MPI_THREAD_CPUID", INT, mpi_thread_cpuid, NAN),
	V("STARPU_MPI_NOBIND", BOOL, mpi_nobind, 0),
	V("ORRERY_MPI_WORKERS_LOOK", INT, mpi_workers_look, -1),
	V("ORRERY_MPI_UNMATCHED_ERROR", BOOL, mpi_unmatched_error, 0),
	V("STARPU_MPI_LB", STRING, mpi_lb, 0),
	V("LB_HEAT_SLEEP_THRESHOLD", LONG, lb_sleep, 0),
	V("LB_HEAT_WAKEUP_RATIO", DOUBLE, lb_wakeup, 0.5),
	V("LB_HEAT_TIME_THRESHOLD", DOUBLE, lb_time_us, -1),
	V("ORRERY_CHECKPOINT_DIR", STRING, checkpoint_dir, 0),
	V("ORRERY_CHECKPOINT_ANY_PROGRAM", BOOL, checkpoint_any_program, 0),
	V("ORRERY_CHECKPOINT_BANDWIDTH", DOUBLE, checkpoint_mbps, 1000),
	V("ORRERY_MPI_STATS_FILE", STRING, mpi_stats_file, 0),
	V("STARPU_SIMGRID", BOOL, simgrid, 0),
	V("STARPU_SILENT", BOOL, silent, 0),
	V("STARPU_PROFILING", BOOL, profiling, 0),
	V("STARPU_SINGLE_COMBINED_WORKER", BOOL, single_combined, 0),
	V("STARPU_MIN_WORKERSIZE", INT, min_workersize, 2),
	V("STARPU_MAX_WORKERSIZE", INT, max_workersize, -1),
	V("STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER", INT, combined_arity, 2),
	V("STARPU_CODELET_PROFILING", BOOL, codelet_profiling, 1),
	V("STARPU_WORKER_STATS", BOOL, worker_stats, 0),
	V("STARPU_BUS_STATS", BOOL, bus_stats, 0),
	V("STARPU_MEMORY_STATS", BOOL, memory_stats, 0),
	V("STARPU_WORKER_STATS_FILE", STRING, worker_stats_file, 0),
	V("STARPU_BUS_STATS_FILE", STRING, bus_stats_file, 0),
	V("ORRERY_POWERCAP", STRING, powercap, 0),
	V("ORRERY_TRACE", STRING, trace, 0),
	V("ORRERY_TRACE_LIMIT", STRING, trace_limit, 0),
	V("ORRERY_TRACE_RANKS", STRING, trace_ranks, 0),
	V("ORRERY_TRACE_WINDOW", STRING, trace_window, 0),
	V("ORRERY_TRACE_KINDS", STRING, trace_kinds, 0),
	V("ORRERY_RUN", STRING, run_command, 0),
	V("ORRERY_REPORT", STRING, report, 0),
	V("ORRERY_SUMMARY", BOOL, summary, 0),
	V("ORRERY_STATISTICS", STRING, statistics, 0),
	V("STARPU_FXT_TRACE", BOOL, fxt_trace, 0),
	V("STARPU_FXT_PREFIX", STRING, fxt_prefix, 0),
	V("STARPU_FXT_SUFFIX", NAME, fxt_suffix, 0),
	V("STARPU_GENERATE_TRACE", BOOL, generate_trace, 0),
	V("STARPU_GENERATE_TRACE_OPTIONS", STRING, generate_options, 0),
	V("ORRERY_TOP", BOOL, top, 1),
	V("STARPU_TASK_PROGRESS", BOOL, task_progress, 0),
	V("ORRERY_STALL_TIMEOUT", LONG, stall_us, 2000000),
	V("ORRERY_HEARTBEAT_TIMEOUT", LONG, heartbeat_us, 20000000),
	V("STARPU_WATCHDOG_TIMEOUT", LONG, watchdog_us, 0),
	V("STARPU_WATCHDOG_DELAY", LONG, watchdog_delay_us, 0),
	V("STARPU_WATCHDOG_CRASH", BOOL, watchdog_crash, 0),
#undef V
};

/* Variables that orr_config_long() reads where they are needed, some of them before the start; `#'
 * is the number of a device. */
static const struct on_demand {
	const char *name;
	enum kind kind;
} on_demand[] = {
	{ "STARPU_NCUDA", INT },
	{ "STARPU_NOPENCL", INT },
	{ "STARPU_CUDA_THREAD_PER_WORKER", BOOL },
	{ "STARPU_CUDA_THREAD_PER_DEV", BOOL },
	{ "STARPU_LIMIT_CPU_NUMA_#_MEM", MIB },
	{ "STARPU_LIMIT_CUDA_#_MEM", MIB },
	{ "STARPU_LIMIT_OPENCL_#_MEM", MIB },
	{ "STARPU_NMPI_MS", INT },
	{ "STARPU_NMPIMSTHREADS", INT },
	{ "STARPU_MPI_MASTER_NODE", INT },
	{ "STARPU_MPI_MS_MULTIPLE_THREAD", BOOL },
	{ "STARPU_TASK_BREAK_ON_SCHED", INT },
	{ "STARPU_CATCH_SIGNALS", BOOL },
	{ "STARPU_MPI_GPUDIRECT", INT },
	{ "STARPU_MPI_REDUX_ARITY_THRESHOLD", SIGNED },
	{ "STARPU_MPI_TRACE_SYNC_CLOCKS", BOOL },
	{ "STARPU_MPI_MEM_THROTTLE", BOOL },
	{ "STARPU_MPI_EARLYDATA_ALLOCATE", BOOL },
	{ "STARPU_MPI_DRIVER_CALL_FREQUENCY", INT },
	{ "STARPU_MPI_DRIVER_TASK_FREQUENCY", INT },
	{ "ORRERY_CHECK_INSERTS", BOOL },
	{ "ORRERY_MPI_PEDANTIC_ISEND", BOOL },
	{ "ORRERY_MPI_RESERVE_CORE", BOOL },
	{ "ORRERY_MPI_SEND_MIB", MIB },
	{ "ORRERY_MPI_LATENCY", COUNT },
	{ "ORRERY_MPI_BANDWIDTH", COUNT },
	{ "ORRERY_MPI_OVERHEAD", COUNT },
	{ "ORRERY_MPI_PIECES", COUNT },
	{ "STARPU_MIN_PRIO", SIGNED },
	{ "STARPU_MAX_PRIO", SIGNED },
};

#define NVARIABLES (sizeof(variables) / sizeof(variables[0]))
#define NON_DEMAND (sizeof(on_demand) / sizeof(on_demand[0]))

/* Is the name the pattern's, with a number in place of its `#'? */
static int matches(const char *pattern, const char *name)
{
	for (; *pattern && *pattern != '#'; pattern++, name++)
		if (*pattern != *name)
			return 0;
	if (!*pattern || !isdigit((unsigned char) *name))
		return !*pattern && !*name;
	return !strcmp(pattern + 1, name + strspn(name, "0123456789"));
}

static const struct on_demand *find_on_demand(const char *name)
{
	for (unsigned i = 0; i < NON_DEMAND; i++)
		if (matches(on_demand[i].name, name))
			return &on_demand[i];
	return NULL;
}

const char *orr_config_name(unsigned i)
{
	if (i < NVARIABLES)
		return variables[i].name;
	return i < NVARIABLES + NON_DEMAND ? on_demand[i - NVARIABLES].name : NULL;
}

/* Finds the variable; 0: it is in neither table. */
static int find_kind(const char *name, enum kind *kind)
{
	const struct on_demand *v = find_on_demand(name);

	if (v)
		*kind = v->kind;
	for (unsigned i = 0; !v && i < NVARIABLES; i++)
		if (!strcmp(variables[i].name, name)) {
			*kind = variables[i].kind;
			return 1;
		}
	return v != NULL;
}

int orr_config_reads(const char *name)
{
	enum kind kind;

	return find_kind(name, &kind);
}

static int malformed(const char *name, const char *value, const char *expected)
{
	orr_error("environment variable %s has the value \"%s\": it takes %s; unset or correct it",
		  name, value, expected);
	return -EINVAL;
}

static int read_long(const char *text, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 0);
	while (*end == ' ' || *end == '\t')
		end++;
	return end == text || *end || errno ? -EINVAL : 0;
}

static int parse_long(const char *name, const char *text, long *out)
{
	return read_long(text, out) ? malformed(name, text, "an integer") : 0;
}

static int parse_double(const char *name, const char *text, double *out)
{
	char *end;
	double v = orr_strtod(text, &end);

	if (end == text || *end || !isfinite(v))
		return malformed(name, text, "a finite number");
	*out = v;
	return 0;
}

static int read_bool(const char *text, long *out)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on" };

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text, words[i])) {
			*out = i & 1;
			return 0;
		}
	int ret = read_long(text, out);
	*out = *out != 0;
	return ret;
}

/* Every word is fit for the name of a file. */
static int is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c == '/' || (*c == '.' && (c == text || strchr(" \t\n", c[-1]))))
			return 0;
	return 1;
}

/* The values that a whole number or a switch of that kind may have. */
static const struct range {
	long least, most;
	const char *expected;
} ranges[] = {
	[INT] = { -1, 1 << 30, "an integer of -1 or more" },
	[COUNT] = { 0, 1 << 30, "an integer of 0 or more" },
	[LONG] = { 0, LONG_MAX, "an integer of 0 or more" },
	[SIGNED] = { LONG_MIN, LONG_MAX, "an integer" },
	[ULONG] = { LONG_MIN, LONG_MAX, "an integer" },
	[MIB] = { 0, SIZE_MAX >> 20, "a size in MiB, 0 or more" },
	[PERCENT] = { 0, 100, "a percentage from 0 to 100" },
	[BOOL] = { 0, 1, "0, 1, no, yes, off, on, false or true" },
};

/* The only reader of whole numbers and switches. Returns NULL, or the values that it takes. */
static const char *read_whole(enum kind kind, const char *text, long *out)
{
	const struct range *r = &ranges[kind];
	int ret = kind == BOOL ? read_bool(text, out) : read_long(text, out);

	return ret || *out < r->least || *out > r->most ? r->expected : NULL;
}

static int parse_whole(const char *name, enum kind kind, const char *text, long *out)
{
	const char *expected = read_whole(kind, text, out);

	return expected ? malformed(name, text, expected) : 0;
}

static int set_text(const struct variable *v, char **field, const char *text)
{
	if (!text || !*text)
		return 0;
	if (v->kind == NAME && !is_name(text))
		return malformed(v->name, text, "names without `/' that do not begin with a dot");
	orr_assertf(!*field, "%s: two variables set one text", v->name);
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

static int set(const struct variable *v, struct orr_config *cfg, const char *text)
{
	void *field = (char *) cfg + v->offset;
	double d = v->dflt;
	long l = isnan(d) ? 0 : (long) d;
	int ret = 0;

	switch (v->kind) {
	case NAME:
	case STRING: return set_text(v, field, text);
	case DOUBLE:
		if (text)
			ret = parse_double(v->name, text, &d);
		*(double *) field = d;
		return ret;
	default:
		if (text)
			ret = parse_whole(v->name, v->kind, text, &l);
		else if (v->kind == MIB)
			l >>= 20; /* the default is in bytes */
		break;
	}
	if (ret)
		return ret;
	switch (v->kind) {
	case MIB: *(size_t *) field = (size_t) l << 20; break;
	case LONG: *(long *) field = l; break;
	case ULONG: *(unsigned long *) field = (unsigned long) l; break;
	default: *(int *) field = (int) l;
	}
	return 0;
}

/* The variables that orr_config_long() will read, or has read, can be read. */
static int check_on_demand(void)
{
	char name[64];
	long l;

	for (char **e = environ; e && *e; e++) {
		size_t n = strcspn(*e, "=");
		const struct on_demand *v;

		if (n >= sizeof(name) || (*e)[n] != '=')
			continue;
		memcpy(name, *e, n);
		name[n] = '\0';
		v = find_on_demand(name);
		if (v && parse_whole(name, v->kind, *e + n + 1, &l))
			return -EINVAL;
	}
	return 0;
}

/* A priority bound exists only when given. */
static int read_prio(const char *name, int *value, int *given)
{
	const char *text = getenv(name);
	long l;

	*given = 0;
	if (!text)
		return 0;
	if (parse_long(name, text, &l))
		return -EINVAL;
	if (l < INT_MIN || l > INT_MAX)
		return malformed(name, text, "a priority, an integer of 32 bits");
	*value = (int) l;
	*given = 1;
	return 0;
}

static int config_check(const struct orr_config *cfg)
{
	if ((cfg->mpi_fake_rank >= 0) != (cfg->mpi_fake_size >= 0)) {
		orr_error(
			"STARPU_MPI_FAKE_RANK and STARPU_MPI_FAKE_SIZE go together: set both or none");
		return -EINVAL;
	}
	if (cfg->mpi_fake_rank >= 0 && cfg->mpi_fake_rank >= cfg->mpi_fake_size) {
		orr_error("STARPU_MPI_FAKE_RANK=%d is not below STARPU_MPI_FAKE_SIZE=%d",
			  cfg->mpi_fake_rank, cfg->mpi_fake_size);
		return -EINVAL;
	}
	if (cfg->fake_devices < 0 || cfg->fake_devices > STARPU_MAXNODES - 2) {
		orr_error("ORRERY_FAKE_DEVICES=%d: it takes 0 to %d", cfg->fake_devices,
			  STARPU_MAXNODES - 2);
		return -EINVAL;
	}
	if (cfg->simgrid && !orr_sys_is_simulated()) {
		orr_error(
			"STARPU_SIMGRID=1 asks for a simulated run, but this is a real one: start the program with `orrery sim', or unset it");
		return -EINVAL;
	}
	if (cfg->calibrate > 2) {
		orr_error(
			"STARPU_CALIBRATE=%d: it takes 0 (off), 1 (measure) or 2 (measure and forget older measurements)",
			cfg->calibrate);
		return -EINVAL;
	}
	if (cfg->history_max_error < 0) {
		orr_error("STARPU_HISTORY_MAX_ERROR=%g: it takes a percentage of 0 or more",
			  cfg->history_max_error);
		return -EINVAL;
	}
	if (cfg->fake_opencl < 0 || cfg->fake_opencl > STARPU_MAXNODES - 2) {
		orr_error("ORRERY_FAKE_OPENCL=%d: it takes 0 to %d", cfg->fake_opencl,
			  STARPU_MAXNODES - 2);
		return -EINVAL;
	}
	if (cfg->fake_copy_mbs < 0 || cfg->fake_kernel_us < 0) {
		orr_error(
			"ORRERY_FAKE_COPY_MBS=%g and ORRERY_FAKE_KERNEL_US=%g: a bandwidth and a time are 0 (no limit, no time) or more",
			cfg->fake_copy_mbs, cfg->fake_kernel_us);
		return -EINVAL;
	}
	if (cfg->nworker_per_cuda < 1 || cfg->nworker_per_cuda > 32) {
		orr_error("STARPU_NWORKER_PER_CUDA=%d: it takes 1 to 32 workers per device",
			  cfg->nworker_per_cuda);
		return -EINVAL;
	}
	if (cfg->opencl_pipeline < 0) {
		orr_error("STARPU_OPENCL_PIPELINE=%d: it takes 0 (one task at a time) or more",
			  cfg->opencl_pipeline);
		return -EINVAL;
	}
	if (cfg->cuda_pipeline < 0) {
		orr_error("STARPU_CUDA_PIPELINE=%d: it takes 0 (one task at a time) or more",
			  cfg->cuda_pipeline);
		return -EINVAL;
	}
	if (cfg->has_min_prio && cfg->has_max_prio && cfg->min_prio > cfg->max_prio) {
		orr_error("STARPU_MIN_PRIO=%d is above STARPU_MAX_PRIO=%d", cfg->min_prio,
			  cfg->max_prio);
		return -EINVAL;
	}
	return 0;
}

/* A simulated run measures nothing, so there is nothing to decide differently for, and nothing to
 * forget that it predicts with. */
static void not_simulated(struct orr_config *cfg)
{
	if (!cfg->calibrate || !orr_sys_is_simulated())
		return;
	if (orr_self()->mpi_rank == 0)
		orr_info(
			"STARPU_CALIBRATE=%d has no effect in a simulated run, which measures no kernels; unset it",
			cfg->calibrate);
	cfg->calibrate = 0;
}

/* Models are written below the user's home unless STARPU_PERF_MODEL_DIR says where. */
static int default_model_dir(struct orr_config *cfg)
{
	const char *home = getenv("STARPU_HOME");

	if (cfg->perf_model_dir)
		return 0;
	if (!home || !*home)
		home = getenv("HOME");
	if (!home || !*home)
		home = ".";
	return asprintf(&cfg->perf_model_dir, "%s/.starpu/sampling", home) < 0 ? -ENOMEM : 0;
}

/* STARPU_FXT_TRACE names no file: where StarPU would write the trace of rank 0, there is that of
 * all. ORRERY_TRACE wins. */
static int default_trace(struct orr_config *cfg)
{
	const char *folder = cfg->fxt_prefix ? cfg->fxt_prefix : "/tmp", *user = getenv("USER");
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";

	if (cfg->trace || !cfg->fxt_trace)
		return 0;
	if (cfg->fxt_suffix)
		return asprintf(&cfg->trace, "%s%s%s", folder, slash, cfg->fxt_suffix) < 0 ? -ENOMEM
											   : 0;
	if (!user || !*user || !is_name(user))
		user = "user";
	return asprintf(&cfg->trace, "%s%sprof_file_%s_0", folder, slash, user) < 0 ? -ENOMEM : 0;
}

int orr_config_read(struct orr_config *cfg)
{
	int ret;

	memset(cfg, 0, sizeof(*cfg));
	for (unsigned i = 0; i < NVARIABLES; i++) {
		const char *text = getenv(variables[i].name);

		if (!text && isnan(variables[i].dflt))
			continue;
		ret = set(&variables[i], cfg, text);
		if (ret)
			goto fail;
	}
	ret = check_on_demand();
	if (ret)
		goto fail;
	ret = read_prio("STARPU_MIN_PRIO", &cfg->min_prio, &cfg->has_min_prio);
	if (!ret)
		ret = read_prio("STARPU_MAX_PRIO", &cfg->max_prio, &cfg->has_max_prio);
	if (!ret)
		ret = config_check(cfg);
	if (!ret)
		not_simulated(cfg);
	if (!ret)
		ret = default_model_dir(cfg);
	if (!ret)
		ret = default_trace(cfg);
	if (!ret)
		return 0;
fail:
	orr_config_free(cfg);
	return ret;
}

/* The text that a variable sets, NULL: it sets none. */
static char **text_of(const struct variable *v, const struct orr_config *cfg)
{
	return v->kind == STRING || v->kind == NAME ? (char **) ((char *) cfg + v->offset) : NULL;
}

void orr_config_free(struct orr_config *cfg)
{
	for (unsigned i = 0; i < NVARIABLES; i++) {
		char **text = text_of(&variables[i], cfg);

		if (!text)
			continue;
		free(*text);
		*text = NULL;
	}
}

int orr_config_copy(struct orr_config *to, const struct orr_config *from)
{
	int ret = 0;

	memcpy(to, from, sizeof(*to));
	for (unsigned i = 0; i < NVARIABLES; i++) {
		char **text = text_of(&variables[i], to);

		if (text && *text && !(*text = strdup(*text)))
			ret = -ENOMEM;
	}
	if (ret)
		orr_config_free(to);
	return ret;
}

int orr_config_equal(const struct orr_config *a, const struct orr_config *b)
{
	struct orr_config x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	for (unsigned i = 0; i < NVARIABLES; i++) {
		char **of_a = text_of(&variables[i], &x), **of_b = text_of(&variables[i], &y);

		if (!of_a)
			continue;
		if (!*of_a != !*of_b || (*of_a && strcmp(*of_a, *of_b)))
			return 0;
		*of_a = *of_b = NULL;
	}
	return !memcmp(&x, &y, sizeof(x));
}

long orr_config_long(const char *name, long dflt)
{
	const char *text = getenv(name);
	enum kind kind = LONG;
	int known = find_kind(name, &kind);
	long l;

	orr_assertf(known && kind != DOUBLE && kind != STRING && kind != NAME,
		    "%s is read as a whole number and in no table", name);
	(void) known;
	if (!text)
		return dflt;
	if (!read_whole(kind, text, &l))
		return l;
	/* The start refuses it; whoever asks before the start need not say so, too. */
	if (orr_self()->cfg->perf_model_dir)
		parse_whole(name, kind, text, &l);
	return dflt;
}

/* ---- for programs ---- */

char *starpu_getenv(const char *str)
{
	return getenv(str);
}

int orrery_getenv_choice(const char *name, const char *strings[], int defvalue)
{
	const char *text = getenv(name);

	for (int i = 0; text && strings[i]; i++)
		if (!strcasecmp(text, strings[i]))
			return i;
	if (text)
		orr_error(
			"environment variable %s has the value \"%s\", which is not one that it takes",
			name, text);
	return defvalue;
}

/* The power of 2 that a unit stands for; -1: there is no such unit. */
static int unit_shift(const char *unit)
{
	static const char units[] = "bkmgt";
	const char *found = *unit ? strchr(units, tolower((unsigned char) *unit)) : NULL;

	if (!*unit)
		return 10;
	if (!found || (unit[1] && strcasecmp(unit + 1, "b")))
		return -1;
	return 10 * (int) (found - units);
}

int orrery_getenv_size(const char *name, int defval)
{
	const char *text = getenv(name);
	char *end = NULL;

	if (!text)
		return defval;
	double v = orr_strtod(text, &end);
	int shift = end == text ? -1 : unit_shift(end);
	double bytes = shift < 0 ? -1 : ldexp(v, shift);
	if (bytes >= 0 && bytes <= INT_MAX)
		return (int) bytes;
	orr_error(
		"environment variable %s has the value \"%s\": it takes a size below 2 GiB, such as 64M",
		name, text);
	return defval;
}

int orrery_getenv_number(const char *name, int dflt)
{
	const char *text = getenv(name);
	long l = dflt;

	if (text && parse_long(name, text, &l))
		l = dflt;
	return l < INT_MIN ? INT_MIN : l > INT_MAX ? INT_MAX : (int) l;
}

double orrery_getenv_float(const char *name, double dflt)
{
	const char *text = getenv(name);
	double d;

	return text && parse_double(name, text, &d) == 0 ? d : dflt;
}
