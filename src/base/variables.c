/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of environment variables (see variables.h). */
#include "base/variables.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/process.h"
#include "base/spelling.h"

/* Names that config.c does not read: variables of the launcher and of the commands, and places;
 * then those that are accepted without effect, and those by which builds of programs find StarPU.
 */
static const char *const others[] = {
	"ORRERY_ALLOW_RUN_AS_ROOT",
	"ORRERY_CC",
	"ORRERY_CXX",
	"ORRERY_DATADIR",
	"ORRERY_DYN_ADDRESS",
	"ORRERY_DYN_HOST",
	"ORRERY_DYN_HOSTS",
	"ORRERY_DYN_LOG",
	"ORRERY_DYN_PATIENCE",
	"ORRERY_DYN_ROOMS",
	"ORRERY_DYN_SERVER",
	"ORRERY_DYN_SIGNED",
	"ORRERY_DYN_START",
	"ORRERY_FC",
	"ORRERY_MPIRUN",
	"ORRERY_SIM_OPTIONS",
	"ORRERY_SIM_OWN_MPI",
	"ORRERY_SIM_WRAPPER",
	"ORRERY_TRANSPORT",
	"STARPU_MALLOC_SIMULATION_FOLD",
	"STARPU_OPENCL_PROGRAM_DIR",
	"STARPU_HOME",
	"STARPU_SIMGRID_CUDA_MALLOC_COST",
	"STARPU_SIMGRID_FETCHING_INPUT_COST",
	"STARPU_SIMGRID_TASK_PUSH_COST",
	"STARPU_SIMGRID_TASK_SUBMIT_COST",
	"STARPU_SIMGRID_TRANSFER_COST",
	"STARPU_BACKOFF_MAX",
	"STARPU_BACKOFF_MIN",
	"STARPU_BENCH_DIR",
	"STARPU_BENCH_ID",
	"STARPU_CHECK_LAUNCHER",
	"STARPU_CHECK_LAUNCHER_ARGS",
	"STARPU_CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES",
	"STARPU_DATA_LOCALITY_ENFORCE",
	"STARPU_ENABLE_STATS",
	"STARPU_ENERGY_PROFILING",
	"STARPU_EXPECTED_TRANSFER_TIME_WRITEBACK",
	"STARPU_FXT_EVENTS",
	"STARPU_GLOBAL_ARBITER",
	"STARPU_HETEROPRIO_USE_AUTO_CALIBRATION",
	"STARPU_IDLE_FILE",
	"STARPU_LIMIT_BANDWIDTH",
	"STARPU_LOGFILENAME",
	"STARPU_LONG_CHECK",
	"STARPU_MAX_MEMORY_USE",
	"STARPU_MICROBENCHS_DISABLED",
	"STARPU_MPI_DEBUG_LEVEL_MAX",
	"STARPU_MPI_DEBUG_LEVEL_MIN",
	"STARPU_MPI_NP",
	"STARPU_MPI_RECV_WAIT_FINALIZE",
	"STARPU_MPI_THREAD_MULTIPLE_SEND",
	"STARPU_PCI_FLAT",
	"STARPU_QUICK_CHECK",
	"STARPU_SIMGRID_CUDA_QUEUE_COST",
	"STARPU_SIMGRID_SCHED_COST",
	"STARPU_SSILENT",
	"STARPU_STATS",
	"STARPU_SUBALLOCATOR",
	"STARPU_TASK_BREAK_ON_EXEC",
	"STARPU_TASK_BREAK_ON_POP",
	"STARPU_TASK_BREAK_ON_PUSH",
	"STARPU_TIMEOUT_ENV",
	"STARPU_TRACE_BUFFER_SIZE",
	"STARPU_DIR",
	"STARPU_ROOT",
	"STARPU_PREFIX",
	"STARPU_VERSION",
	"STARPU_BUILD_DIR",
	"STARPU_SRC_DIR",
	"STARPU_LIBRARIES",
	"STARPU_CFLAGS",
	"STARPU_LIBS",
};

#define NOTHERS (sizeof(others) / sizeof(others[0]))

/* The i-th known name, NULL behind the last. */
static const char *known(unsigned i)
{
	return i < NOTHERS ? others[i] : orr_config_name(i - (unsigned) NOTHERS);
}

int orr_variables_known(const char *name)
{
	for (unsigned i = 0; i < NOTHERS; i++)
		if (!strcmp(others[i], name))
			return 1;
	return orr_config_reads(name);
}

/* The words after the first one, so that a wrong prefix costs as little as a wrong letter. */
static const char *body(const char *name)
{
	return strchr(name, '_') + 1;
}

const char *orr_variables_nearest(const char *name)
{
	const char *nearest = NULL, *text = body(name);
	struct orr_spelling near = { .limit = 1 + (unsigned) strlen(text) / 5, .room = 1 };

	for (unsigned i = 0; known(i); i++) {
		unsigned d = orr_spelling_distance(text, body(known(i)));

		if (d < UINT_MAX && strncmp(name, known(i), (size_t) (text - name)))
			d++;
		if (orr_spelling_offer(&near, known(i), d))
			nearest = known(i);
		if (d <= 1)
			break;
	}
	return nearest;
}

/* Is it a name of ours to judge? */
static int ours(const char *setting)
{
	return !strncmp(setting, "STARPU_", 7) || !strncmp(setting, "ORRERY_", 7);
}

void orr_variables_check(void)
{
	char name[128];

	for (char **e = environ; e && *e; e++) {
		size_t n = strcspn(*e, "=");

		if (!ours(*e) || n >= sizeof(name))
			continue;
		memcpy(name, *e, n);
		name[n] = '\0';
		if (orr_variables_known(name))
			continue;
		const char *nearest = orr_variables_nearest(name);
		if (nearest)
			orr_warn("environment variable %s is not known; is %s meant?", name,
				 nearest);
		else
			orr_warn(
				"environment variable %s is not known and has no effect; doc/environment.md lists those that have",
				name);
	}
}
