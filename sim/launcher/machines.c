/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine of each rank: its host's property `machine`, else --machine, else the machine named
 * `default`, if it exists, else 4 CPUs that nobody measured, which is called so, too.
 *
 * A machine is a directory of measurements: NAME/bus/NAME.config and NAME/codelets/. A machine is
 * searched for by its path, then in the directories of --machine-path, then in the installed
 * gallery. These directories hold a subdirectory for each machine, or themselves bus/ and codelets/
 * with the files of several machines.
 *
 * Invariant: ranks with the same machine share one description; the directories of all machines in
 * use come first in STARPU_PERF_MODEL_PATH, so that models are found by the machine's name. */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher.h"
#include "machine/sim_cores.h"
#include "base/contention.h"
#include "perf/machine.h"
#include "machine/sim_company.h"
#include "machine/sim_node.h"

#define BUILTIN_CPUS 4
#define MAX_DIRS 64

struct machine_entry {
	char *name;
	struct orr_machine *machine;
	struct machine_entry *next;
};

static char *machines_dirs[MAX_DIRS + 1];
static int machines_ndirs;
static struct machine_entry *machines;

static void machines_add_dirs(const char *list)
{
	char *copy = strdup(list), *save = NULL;
	for (char *d = strtok_r(copy, ":", &save); d && machines_ndirs < MAX_DIRS;
	     d = strtok_r(NULL, ":", &save))
		machines_dirs[machines_ndirs++] = strdup(d);
	free(copy);
}

static int dir_has_machine(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/bus/%s.config", dir, name);
	return n < (int) sizeof(path) && access(path, R_OK) == 0;
}

/* The directory with bus/ and codelets/ of the machine, allocated, or NULL. */
static char *machine_locate(const char *name)
{
	char path[PATH_MAX];
	for (int i = 0; i < machines_ndirs; i++) {
		snprintf(path, sizeof(path), "%s/%s", machines_dirs[i], name);
		if (dir_has_machine(path, name))
			return strdup(path);
		if (dir_has_machine(machines_dirs[i], name))
			return strdup(machines_dirs[i]);
	}
	return NULL;
}

/* The same for a machine that is given by its path DIR/NAME, with the file DIR/NAME/bus/NAME.config
 * or DIR/bus/NAME.config. Sets *name, allocated. */
static char *machine_locate_path(const char *given, char **name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", given);
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = 0;
	char *slash = strrchr(path, '/');
	*name = strdup(slash ? slash + 1 : path);
	if (dir_has_machine(path, *name))
		return strdup(path);
	if (!slash)
		return NULL;
	*slash = 0;
	return dir_has_machine(path, *name) ? strdup(path) : NULL;
}

static void machines_list(FILE *f)
{
	for (int i = 0; i < machines_ndirs; i++) {
		DIR *d = opendir(machines_dirs[i]);
		for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
			char path[PATH_MAX];
			snprintf(path, sizeof(path), "%s/%s", machines_dirs[i], e->d_name);
			if (e->d_name[0] != '.' && dir_has_machine(path, e->d_name))
				fprintf(f, " %s", e->d_name);
		}
		if (d)
			closedir(d);
	}
}

/* A folder that is there and lacks the file by which machines are known. */
static void machine_fail_incomplete(const char *name)
{
	char folder[PATH_MAX], path[PATH_MAX];
	int found = strchr(name, '/') && !access(name, X_OK);
	snprintf(folder, sizeof(folder), "%s", name);
	for (int i = 0; i < machines_ndirs && !found && !strchr(name, '/'); i++) {
		int length = snprintf(folder, sizeof(folder), "%s/%s", machines_dirs[i], name);
		found = length < (int) sizeof(folder) && !access(folder, X_OK);
	}
	size_t n = strlen(folder);
	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = 0;
	const char *slash = strrchr(folder, '/');
	snprintf(path, sizeof(path), "bus/%s.config", slash ? slash + 1 : folder);
	if (found)
		launcher_fail(
			"--machine %s: the folder %s lacks the file %s, with the numbers of its units; `orrery calibrate` writes all files of a machine",
			name, folder, path);
}

static void machine_fail_unknown(const char *name, const char *host)
{
	if (*name)
		machine_fail_incomplete(name);
	char *known = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&known, &size);
	machines_list(f);
	fclose(f);
	if (host)
		launcher_fail(
			"the host %s has the machine %s, which is unknown; there are:%s; correct its property `machine` or name the "
			"folder of its measurements with --machine-path",
			host, name, size ? known : " none");
	launcher_fail(
		"--machine %s: unknown; there are:%s; measure one with `orrery calibrate` or name the folder of its measurements",
		name, size ? known : " none");
}

static void machines_add_model_path(const char *dir)
{
	const char *old = getenv("STARPU_PERF_MODEL_PATH");
	char *path;
	if (asprintf(&path, "%s%s%s", dir, old && *old ? ":" : "", old ? old : "") < 0)
		launcher_fail("out of memory");
	setenv("STARPU_PERF_MODEL_PATH", path, 1);
	free(path);
}

static struct machine_entry *machine_load(const char *given, const char *host)
{
	for (struct machine_entry *f = machines; f; f = f->next)
		if (!strcmp(f->name, given))
			return f;
	char *name = NULL,
	     *dir = strchr(given, '/') ? machine_locate_path(given, &name) : machine_locate(given);
	if (!dir)
		machine_fail_unknown(given, host);
	struct machine_entry *f = calloc(1, sizeof(*f));
	const char *const where[] = { dir, NULL };
	if (!f || orr_machine_load(name ? name : given, where, &f->machine))
		launcher_fail("the machine %s in %s cannot be used", given, dir);
	for (int i = 0; i < ORR_NCOSTS; i++)
		if (launcher_cost_given(i))
			f->machine->costs_us[i] = NAN;
	f->name = strdup(given);
	f->next = machines;
	machines = f;
	machines_add_model_path(dir);
	free(name);
	free(dir);
	return f;
}

/* The name at place i of a list with commas, where the first name follows the last one. */
static void machine_name_in_turn(const char *list, int i, char *name, size_t size)
{
	int n = 1;
	for (const char *p = list; *p; p++)
		n += *p == ',';
	for (i %= n; i; i--)
		list = strchr(list, ',') + 1;
	if (!*list || *list == ',')
		launcher_fail(
			"--machine: an empty name; give one name, or several with commas in between, for the nodes in turn");
	snprintf(name, size, "%.*s", (int) strcspn(list, ","), list);
}

/* The host's property `cores`, else its attribute `core`, which is 1 where it is missing; 0:
 * neither says something. */
static unsigned host_cores(sg_host_t host)
{
	const char *value = sg_host_get_property_value(host, "cores");
	char *end = NULL;
	long n = value ? strtol(value, &end, 10) : 0;
	if (!value) {
		int cores = sg_host_core_count(host);
		if (cores > STARPU_MAXCPUS)
			launcher_fail("the host %s has core=\"%d\"; at most %d are possible",
				      sg_host_get_name(host), cores, STARPU_MAXCPUS);
		return cores > 1 ? (unsigned) cores : 0;
	}
	if (end == value || *end || n < 1 || n > STARPU_MAXCPUS)
		launcher_fail(
			"the host %s has the property cores=\"%s\"; it takes a whole number between 1 and %d",
			sg_host_get_name(host), value, STARPU_MAXCPUS);
	return (unsigned) n;
}

/* A property of the host in microseconds per MiB, converted to microseconds per byte; 0 without the
 * property. */
static double host_us_per_byte(sg_host_t host, const char *property)
{
	const char *value = sg_host_get_property_value(host, property);
	char *end = NULL;
	double us = value ? strtod(value, &end) : 0;
	if (value && (end == value || *end || !(us >= 0) || us > 1e6))
		launcher_fail(
			"the host %s has the property %s=\"%s\"; it takes microseconds per MiB, a number between 0 and a million",
			sg_host_get_name(host), property, value);
	return us / (1 << 20);
}

/* The network's time for a byte of a long message between the rank and its neighbour. */
static double rank_way_us(const struct orr_sim_rank *r, int n)
{
	double bandwidth = sg_host_get_route_bandwidth(r->host,
						       orr_sim.ranks[(r->rank + 1) % n].host);
	return bandwidth > 0 ? 1e6 / bandwidth : 0;
}

/* The measurements of a machine are those of the first host that has it: another one of twice the
 * speed takes half the time. */
static double host_slowness(const struct orr_sim_rank *r)
{
	const struct orr_sim_rank *first = orr_sim.ranks;
	while (first->machine != r->machine)
		first++;
	return sg_host_get_speed(first->host) / sg_host_get_speed(r->host);
}

static const struct orr_contention *contention_of(const struct orr_sim_rank *r)
{
	return r->machine ? r->machine->contention : NULL;
}

static void rank_make_company(struct orr_sim_rank *r)
{
	if (!contention_of(r))
		return;
	r->cores->company = orr_sim_company_make(contention_of(r), r->ncpus);
	if (!r->cores->company)
		launcher_fail("out of memory for rank %d", r->rank);
}

/* Two ranks share the memory of one computer. */
static void rank_check_company(const struct orr_sim_rank *r, const struct orr_sim_rank *other)
{
	if (!orr_contention_same(contention_of(r), contention_of(other)))
		launcher_fail(
			"the hosts %s and %s are one computer, but bus/%s.contention and bus/%s.contention of their machines "
			"differ; give both the same file",
			sg_host_get_name(r->host), sg_host_get_name(other->host), r->machine_name,
			other->machine_name);
}

/* Gives the rank the cores that it computes on: its own, or those of the first rank on the same
 * computer. Ranks of one computer are most often neighbours. */
static void rank_share_cores(struct orr_sim_rank *r)
{
	const char *name = sg_host_get_property_value(r->host, "computer");
	static struct orr_sim_rank *last; /* that has a computer */
	struct orr_sim_rank *other = name && last && !strcmp(last->cores->name, name) ? last : NULL;
	for (struct orr_sim_rank *o = orr_sim.ranks; name && !other && o < r; o++)
		if (o->cores->name && !strcmp(o->cores->name, name))
			other = o;
	r->cores = other ? other->cores : calloc(1, sizeof(*r->cores));
	if (!r->cores)
		launcher_fail("out of memory for rank %d", r->rank);
	if (!other) {
		r->cores->name = name;
		r->cores->ncores = r->ncpus;
		rank_make_company(r);
	} else if (r->cores->ncores != r->ncpus) {
		launcher_fail(
			"the hosts %s and %s are one computer, %s, but one has %u cores and the other %u",
			sg_host_get_name(r->host), sg_host_get_name(other->host), name, r->ncpus,
			r->cores->ncores);
	} else {
		rank_check_company(r, other);
	}
	r->next_on_computer = r->cores->ranks;
	r->cores->ranks = r;
	if (name)
		last = r;
}

void launcher_machines_find(const struct launcher_options *o)
{
	const char *data = getenv("ORRERY_DATADIR");
	char gallery[PATH_MAX];
	if (o->machine_path)
		machines_add_dirs(o->machine_path);
	snprintf(gallery, sizeof(gallery), "%s/platforms/machines",
		 data && *data ? data : ORR_DATADIR);
	machines_add_dirs(gallery);
	int has_default = 0;
	char *dir = machine_locate("default");
	has_default = dir != NULL;
	free(dir);
	for (int i = 0; i < o->n; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		const char *property = sg_host_get_property_value(r->host, "machine");
		char given[PATH_MAX];
		const char *name = property      ? property
				   : o->machine  ? given
				   : has_default ? "default"
						 : NULL;
		if (o->machine)
			machine_name_in_turn(o->machine, i, given, sizeof(given));
		struct machine_entry *f = name ? machine_load(name,
							      property ? sg_host_get_name(r->host)
								       : NULL)
					       : NULL;
		r->machine = f ? f->machine : NULL;
		r->machine_name = f ? f->machine->name : "default";
		r->slowness *= host_slowness(r);
		r->ncpus = host_cores(r->host);
		if (o->cpus || !r->ncpus)
			r->ncpus = o->cpus ? (unsigned) o->cpus
				   : f     ? f->machine->ncpus
					   : BUILTIN_CPUS;
		if (r->ncpus == 0)
			launcher_fail("the machine %s has no CPU; give --cpus K", r->machine_name);
		if (r->ncpus > STARPU_MAXCPUS)
			r->ncpus = STARPU_MAXCPUS;
		rank_share_cores(r);
		r->copy_us = host_us_per_byte(r->host, "copy_us");
		r->touch_us = host_us_per_byte(r->host, "touch_us");
		r->way_us = r->copy_us > 0 ? rank_way_us(r, o->n) : 0;
	}
}

double launcher_buffer_us(sg_host_t host, double bytes)
{
	for (int i = 0; i < orr_sim.nranks; i++)
		if (orr_sim.ranks[i].host == host)
			return orr_sim_buffer_us(&orr_sim.ranks[i], bytes);
	return 0;
}
