/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The performance models of a process: start, end, and the places that models come from (see
 * perf.h).
 *
 * Invariant: files are read when a model is first used, and written in orr_perf_exit if something
 * was learnt. */
#include "perf/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/output.h"
#include "perf/model_state.h"

/* ---- places ---- */

static void free_dirs(struct orr_perf *p)
{
	for (unsigned i = 0; i < p->ndirs; i++)
		free(p->dirs[i]);
	free(p->dirs);
	p->dirs = NULL;
	p->ndirs = 0;
}

static int add_dir(struct orr_perf *p, const char *dir, size_t length)
{
	if (length == 0)
		return 0;
	char **v = realloc(p->dirs, (p->ndirs + 2) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	p->dirs = v;
	v[p->ndirs] = strndup(dir, length);
	v[p->ndirs + 1] = NULL;
	return v[p->ndirs] ? (p->ndirs++, 0) : -ENOMEM;
}

/* Places in the order of the search: the machine's own, STARPU_PERF_MODEL_PATH, then the place that
 * models are written to. */
static int set_dirs(struct orr_perf *p)
{
	int err = 0;
	free_dirs(p);
	if (p->machine && !p->machine_mine)
		err = add_dir(p, p->machine->dir, strlen(p->machine->dir));
	for (const char *s = orr_perf_cfg(p)->perf_model_path; s && !err;) {
		size_t n = strcspn(s, ":");
		err = add_dir(p, s, n);
		s = s[n] ? s + n + 1 : NULL;
	}
	const char *last = orr_perf_cfg(p)->perf_model_dir ? orr_perf_cfg(p)->perf_model_dir : ".";
	return err ? err : add_dir(p, last, strlen(last));
}

/* The name that the system has for the computer, or NULL. */
static const char *own_name(struct orr_perf *p)
{
	char name[256] = "";

	if (!p->host_own && !gethostname(name, sizeof(name) - 1))
		p->host_own = strdup(name);
	return p->host_own;
}

void orr_perf_set_host(struct orr_perf *p, struct orr_process *proc)
{
	const char *name = NULL;
	if (p->machine && !p->machine_mine)
		name = p->machine->name;
	else if (!p->has_own)
		name = orr_sys_machine_name(proc);
	else if (p->own->hostname)
		name = p->own->hostname;
	else
		name = own_name(p);
	p->host = name ? name : "localhost";
}

/* ---- start and end ---- */

static void free_own(struct orr_perf *p)
{
	if (p->has_own)
		orr_config_free(p->own);
	free(p->own);
	p->own = NULL;
	p->has_own = 0;
}

static struct orr_perf *perf_new(struct orr_process *proc)
{
	struct orr_perf *p = calloc(1, sizeof(*p));
	orr_assert_locked(&proc->lock);
	if (!p)
		return NULL;
	orr_lock_init(&p->lock, ORR_RANK_PERF);
	p->proc = proc;
	if (!proc->cfg->perf_model_dir) {
		/* Before starpu_init: tools, and programs that prepare their models first. */
		p->own = calloc(1, sizeof(*p->own));
		if (!p->own) {
			free(p);
			return NULL;
		}
		p->has_own = orr_config_read(p->own) == 0;
	}
	if (set_dirs(p)) {
		free_own(p);
		free_dirs(p);
		free(p);
		return NULL;
	}
	orr_perf_set_host(p, proc);
	return p;
}

struct orr_perf *orr_perf_get(struct orr_process *proc)
{
	if (proc->perf)
		return proc->perf;
	orr_lock(&proc->lock);
	if (!proc->perf)
		proc->perf = perf_new(proc);
	orr_unlock(&proc->lock);
	return proc->perf;
}

int orr_perf_init(struct orr_process *proc)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return -ENOMEM;
	free_own(p);
	orr_perf_set_host(p, proc);
	if (proc->cfg->calibrate) {
		int ret = orr_output_prepare_folder("STARPU_PERF_MODEL_DIR",
						    proc->cfg->perf_model_dir);
		if (ret)
			return ret;
	}
	return set_dirs(p);
}

void orr_perf_exit(struct orr_process *proc)
{
	struct orr_perf *p = proc->perf;

	if (!p)
		return;
	orr_model_state_exit(p);
	orr_arch_table_free(&p->archs);
	if (p->machine_mine)
		orr_machine_free(p->machine);
	free_own(p);
	free(p->host_own);
	free_dirs(p);
	free(p);
	proc->perf = NULL;
}

/* ---- the machine ---- */

int orr_perf_set_machine(struct orr_process *proc, struct orr_machine *m)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return -ENOMEM;
	if (p->machine_mine)
		orr_machine_free(p->machine);
	p->machine = m;
	p->machine_mine = 0;
	p->machine_looked = 1;
	orr_perf_set_host(p, proc);
	return set_dirs(p);
}

const struct orr_machine *orr_perf_machine(struct orr_process *proc)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return NULL;
	if (ORR_ATOMIC_LOAD(&p->machine_looked))
		return p->machine;
	orr_lock(&p->lock);
	for (unsigned i = 0; !p->machine_looked && i < p->ndirs; i++) {
		char path[4096];
		const char *const dirs[] = { p->dirs[i], NULL };
		if (snprintf(path, sizeof(path), "%s/bus/%s.config", p->dirs[i], p->host) >=
			    (int) sizeof(path) ||
		    access(path, R_OK))
			continue;
		p->machine_mine = orr_machine_load(p->host, dirs, &p->machine) == 0;
		break;
	}
	orr_assert(!p->machine || p->machine_mine);
	ORR_ATOMIC_STORE(&p->machine_looked, 1);
	orr_unlock(&p->lock);
	return p->machine;
}
