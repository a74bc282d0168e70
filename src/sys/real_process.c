/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process of a real run: its context, its clock, its name, its end.
 *
 * Invariant: the context exists, all zero, before main() and until the end; proc->sys is a struct
 * orr_real between orr_sys_process_init and orr_sys_process_exit. */
#include "sys/real.h"
#include "sys/launched.h"
#include "base/assert.h"
#include "base/fnv.h"
#include "base/link.h"
#include "base/log.h"
#include "base/upcalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__thread struct orr_thread orr_the_thread
	__attribute__((tls_model("initial-exec"))) = { .proc = &orr_the_process };
/* The function that ends the other ranks, see orr_real_on_abort. A process has one MPI. Atomic. */
static void (*abort_all)(void);

/* ---- clock ---- */

static int64_t origin_s; /* written once, before main() */
static double started_us;

__attribute__((constructor)) static void set_origin(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	origin_s = ts.tv_sec;
	started_us = (double) ts.tv_nsec * 1e-3;
	orr_real_ticks_begin();
}

double orr_real_started_us(void)
{
	return started_us;
}

double orr_sys_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) (ts.tv_sec - origin_s) * 1e6 + (double) ts.tv_nsec * 1e-3;
}

double orr_sys_origin_us(void)
{
	return (double) origin_s * 1e6;
}

void orr_sys_sleep_us(double us)
{
	struct timespec left;

	orr_assert_no_lock();
	if (!(us > 0))
		return;
	if (us > 1e15)
		us = 1e15;
	left.tv_sec = (time_t) (us / 1e6);
	left.tv_nsec = (long) ((us - (double) left.tv_sec * 1e6) * 1e3);
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* ---- traces ---- */

struct orr_trace_file **orr_sys_trace_files(void)
{
	static struct orr_trace_file *files;

	return &files;
}

/* The start of the process, as the system counts: its number alone comes back. */
static unsigned long long own_start(void)
{
	char text[1024];
	FILE *f = fopen("/proc/self/stat", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	/* The second field is a name in parentheses; the start is the 20th behind it. */
	char *p = strrchr(text, ')');
	for (int i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

/* The value of a variable may be a key of the run, which nobody else may see. */
static unsigned long long hash_of(const char *text)
{
	return orr_fnv(ORR_FNV_START, text, strlen(text));
}

void orr_sys_run_name(struct orr_process *proc, char *name, size_t size)
{
	/* Of a run that grows, before what tells the parts of it apart. */
	static const char *const variables[] = { "ORRERY_DYN_SERVER", "PMIX_NAMESPACE",
						 "OMPI_MCA_ess_base_jobid" };

	(void) proc;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i])) {
			snprintf(name, size, "%016llx", hash_of(getenv(variables[i])));
			return;
		}
	if (getenv("MPI_LOCALNRANKS")) /* one process has started all of this computer */
		snprintf(name, size, "below %ld", (long) getppid());
	else
		snprintf(name, size, "%ld %llu", (long) getpid(), own_start());
}

/* ---- the process ---- */

unsigned orr_sys_run_size(struct orr_process *proc)
{
	(void) proc;
	return orr_real_launched(ORR_LAUNCHED_SIZE);
}

void orr_sys_wires_watch(struct orr_process *proc)
{
	(void) proc;
}

unsigned orr_sys_wires(struct orr_process *proc, struct orr_wire **wires)
{
	(void) proc;
	*wires = NULL;
	return 0;
}

int orr_sys_wire_at(struct orr_process *proc, const struct orr_wire *wire, unsigned i,
		    struct orr_wire *out)
{
	(void) proc;
	(void) wire;
	(void) i;
	(void) out;
	return 0;
}

int orr_sys_process_init(struct orr_process *proc)
{
	struct orr_real *real = calloc(1, sizeof(*real));
	char *dot;

	orr_assert(!proc->sys);
	if (!real) {
		orr_error("not enough memory to start the runtime");
		return -ENOMEM;
	}
	orr_real_run_begin(proc);
	orr_lock_init(&real->lock, ORR_RANK_SYS_NAMES);
	orr_lock_init(&real->memory.lock, ORR_RANK_SYS_MEMORY);
	if (gethostname(real->host, sizeof(real->host) - 1))
		strcpy(real->host, "localhost");
	dot = strchr(real->host, '.');
	if (dot && dot != real->host)
		*dot = '\0';
	real->nprocs = orr_real_launched(ORR_LAUNCHED_NPROCS);
	real->proc = orr_real_launched(ORR_LAUNCHED_PROC);
	if (!proc->mpi_size) {
		proc->mpi_rank = 0;
		proc->mpi_size = 1;
	}
	proc->sys = real;
	return 0;
}

void orr_sys_process_exit(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;

	if (!real)
		return;
	proc->sys = NULL;
	orr_real_crash_exit();
	orr_real_memory_exit(real);
	while (real->names) {
		struct orr_real_name *next = real->names->next;

		free(real->names);
		real->names = next;
	}
	free(real);
}

/* The name that applies just now and its length: the rank's word of STARPU_MPI_HOSTNAMES, else
 * STARPU_HOSTNAME, else the host's. */
static const char *current_name(struct orr_process *proc, const struct orr_real *real, size_t *len)
{
	static const char blanks[] = " \t\n";
	const char *p = proc->cfg->mpi_hostnames;

	if (p) {
		p += strspn(p, blanks);
		for (int i = 0; *p && i < proc->mpi_rank; i++) {
			p += strcspn(p, blanks);
			p += strspn(p, blanks);
		}
		*len = strcspn(p, blanks);
		if (*len)
			return p;
	}
	p = proc->cfg->hostname ? proc->cfg->hostname : real->host;
	*len = strlen(p);
	return p;
}

const char *orr_sys_machine_name(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;
	struct orr_real_name *name, *fresh;
	const char *text;
	size_t len;

	if (!real)
		return proc->cfg->hostname ? proc->cfg->hostname : "localhost";
	text = current_name(proc, real, &len);
	/* The name changes when the rank becomes known, and callers may still hold the older one.
	 */
	fresh = malloc(sizeof(*fresh) + len + 1);
	orr_lock(&real->lock);
	for (name = real->names; name; name = name->next)
		if (strlen(name->text) == len && !memcmp(name->text, text, len))
			break;
	if (!name && fresh) {
		memcpy(fresh->text, text, len);
		fresh->text[len] = '\0';
		fresh->next = real->names;
		real->names = name = fresh;
		fresh = NULL;
	}
	orr_unlock(&real->lock);
	free(fresh);
	return name ? name->text : real->host;
}

void *orr_sys_library_open(struct orr_process *proc, const char *path, const char **why)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	(void) proc;
	if (!object)
		*why = dlerror();
	return object;
}

void *orr_sys_symbol(struct orr_process *proc, const char *name)
{
	(void) proc;
	return dlsym(RTLD_DEFAULT, name);
}

#define LIBRARY "liborrery"

/* The path of liborrery-mpi: beside this library, with the same ending. 0, or -ENOENT where the
 * runtime is no shared library. */
static int find_mpi_library(char path[PATH_MAX])
{
	Dl_info here;
	const char *name = NULL;

	if (dladdr((void *) &orr_the_process, &here) && here.dli_fname)
		name = strstr(here.dli_fname, LIBRARY ".so");
	if (!name)
		return -ENOENT;
	int n = snprintf(path, PATH_MAX, "%.*s" LIBRARY "-mpi%s", (int) (name - here.dli_fname),
			 here.dli_fname, name + strlen(LIBRARY));
	return n < PATH_MAX ? 0 : -ENOENT;
}

int orr_sys_link_load(struct orr_process *proc)
{
	char path[PATH_MAX];

	(void) proc;
	if (orr_link_known())
		return 0;
	if (find_mpi_library(path)) {
		orr_error(
			"the master-slave mode loads liborrery-mpi, which a program that contains the runtime itself cannot do; link with the shared liborrery");
		return -ENOSYS;
	}
	/* Plug-ins of Open MPI look for its symbols in the global scope. */
	if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
		orr_error("the master-slave mode needs %s: %s; install Orrery with an MPI", path,
			  dlerror());
		return -ENOENT;
	}
	orr_assert(orr_link_known());
	return 0;
}

void orr_real_on_abort(void (*end_all)(void))
{
	ORR_ATOMIC_STORE(&abort_all, end_all);
}

void orr_sys_abort(void)
{
	void (*end_all)(void) = ORR_ATOMIC_XCHG(&abort_all, NULL);

	fflush(stdout);
	fflush(stderr);
	if (end_all)
		end_all();
	_exit(1);
}

/* exit() within a function that exit() calls goes on with the others, and with the new status. */
static void end_with_failure(int status, void *arg)
{
	(void) arg;
	if (!status)
		exit(1);
}

void orr_sys_fail_at_end(struct orr_process *proc)
{
	(void) proc;
	on_exit(end_with_failure, NULL);
}

/* ---- diagnosis ---- */

void orr_sys_progress(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;
	uint64_t nsubmitted, ncompleted;
	int64_t now, last;
	int terminal;

	if (!proc->cfg->task_progress || !real)
		return;
	terminal = isatty(STDERR_FILENO);
	now = (int64_t) (orr_sys_now_us() / 1e3);
	last = ORR_ATOMIC_LOAD(&real->progress_ms);
	if (now - last < (terminal ? 200 : 2000) || !ORR_ATOMIC_CAS(&real->progress_ms, &last, now))
		return;
	proc->core_up->count_tasks(proc, &nsubmitted, &ncompleted);
	fprintf(stderr, "%s[orrery][%d] %llu of %llu tasks done%s", terminal ? "\r" : "",
		proc->mpi_rank, (unsigned long long) ncompleted, (unsigned long long) nsubmitted,
		terminal ? "" : "\n");
	fflush(stderr);
}
