/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine of each rank: its host's property `machine`, else --machine, else `default` when
 * there is one, else the built-in description (4 CPUs).
 *
 * A machine is a directory of measurements: NAME/bus/NAME.config and NAME/codelets/. It is looked
 * for by path, then in --machine-path, then in the installed gallery; a folder that holds several
 * (bus/ and codelets/ of all of them) may stand in the path itself.
 *
 * Invariant: ranks with the same machine share one description; the folders of all machines in use
 * are put before STARPU_PERF_MODEL_PATH, so that models are found by the machine's name. */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher.h"

#define BUILTIN_CPUS 4
#define MAX_DIRS 64

struct found {
	char *name;
	struct orr_machine *machine;
	struct found *next;
};

static char *dirs[MAX_DIRS + 1];
static int ndirs;
static struct found *machines;

static void add_dirs(const char *list)
{
	char *copy = strdup(list), *save = NULL;
	for (char *d = strtok_r(copy, ":", &save); d && ndirs < MAX_DIRS;
	     d = strtok_r(NULL, ":", &save))
		dirs[ndirs++] = strdup(d);
	free(copy);
}

static int has_machine(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/bus/%s.config", dir, name);
	return n < (int) sizeof(path) && access(path, R_OK) == 0;
}

/* The folder with bus/ and codelets/ of the machine, allocated, or NULL. */
static char *locate(const char *name)
{
	char path[PATH_MAX];
	for (int i = 0; i < ndirs; i++) {
		snprintf(path, sizeof(path), "%s/%s", dirs[i], name);
		if (has_machine(path, name))
			return strdup(path);
		if (has_machine(dirs[i], name))
			return strdup(dirs[i]);
	}
	return NULL;
}

/* Machines are also given by path: DIR/NAME with DIR/NAME/bus/NAME.config or DIR/bus/NAME.config.
 */
static char *locate_path(const char *given, char **name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", given);
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = 0;
	char *slash = strrchr(path, '/');
	*name = strdup(slash ? slash + 1 : path);
	if (has_machine(path, *name))
		return strdup(path);
	if (!slash)
		return NULL;
	*slash = 0;
	return has_machine(path, *name) ? strdup(path) : NULL;
}

static void list_known(FILE *f)
{
	for (int i = 0; i < ndirs; i++) {
		DIR *d = opendir(dirs[i]);
		for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
			char path[PATH_MAX];
			snprintf(path, sizeof(path), "%s/%s", dirs[i], e->d_name);
			if (e->d_name[0] != '.' && has_machine(path, e->d_name))
				fprintf(f, " %s", e->d_name);
		}
		if (d)
			closedir(d);
	}
}

static void fail_unknown(const char *name, const char *host)
{
	char *known = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&known, &size);
	list_known(f);
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

static void add_model_path(const char *dir)
{
	const char *old = getenv("STARPU_PERF_MODEL_PATH");
	char *path;
	if (asprintf(&path, "%s%s%s", dir, old && *old ? ":" : "", old ? old : "") < 0)
		launcher_fail("out of memory");
	setenv("STARPU_PERF_MODEL_PATH", path, 1);
	free(path);
}

static struct found *machine_load(const char *given, const char *host)
{
	for (struct found *f = machines; f; f = f->next)
		if (!strcmp(f->name, given))
			return f;
	char *name = NULL, *dir = strchr(given, '/') ? locate_path(given, &name) : locate(given);
	if (!dir)
		fail_unknown(given, host);
	struct found *f = calloc(1, sizeof(*f));
	const char *const where[] = { dir, NULL };
	if (!f || orr_machine_load(name ? name : given, where, &f->machine))
		launcher_fail("the machine %s in %s cannot be used", given, dir);
	for (int i = 0; i < ORR_NCOSTS; i++)
		if (launcher_cost_given(i))
			f->machine->costs_us[i] = NAN;
	f->name = strdup(given);
	f->next = machines;
	machines = f;
	add_model_path(dir);
	free(name);
	free(dir);
	return f;
}

/* The name at place i of a list with commas, where the first comes after the last again. */
static void name_in_turn(const char *list, int i, char *name, size_t size)
{
	int n = 1;
	for (const char *p = list; *p; p++)
		n += *p == ',';
	for (i %= n; i; i--)
		list = strchr(list, ',') + 1;
	if (!*list || *list == ',')
		launcher_fail(
			"--machine: an empty name; it takes one name, or several with commas in between, for the nodes in turn");
	snprintf(name, size, "%.*s", (int) strcspn(list, ","), list);
}

/* The host's property `cores`, 0: none. */
static unsigned cores_of(sg_host_t host)
{
	const char *value = sg_host_get_property_value(host, "cores");
	char *end = NULL;
	long n = value ? strtol(value, &end, 10) : 0;
	if (value && (end == value || *end || n < 1 || n > STARPU_MAXCPUS))
		launcher_fail(
			"the host %s has the property cores=\"%s\"; it takes a whole number between 1 and %d",
			sg_host_get_name(host), value, STARPU_MAXCPUS);
	return (unsigned) n;
}

/* Microseconds per MiB that a property of the host tells, per byte; 0: none. */
static double per_byte(sg_host_t host, const char *property)
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

/* What the network takes for a byte of a long message between the rank and its neighbour. */
static double way_us(const struct orr_sim_rank *r, int n)
{
	double bandwidth = sg_host_get_route_bandwidth(r->host,
						       orr_sim.ranks[(r->rank + 1) % n].host);
	return bandwidth > 0 ? 1e6 / bandwidth : 0;
}

/* Gives the rank the cores that it computes on; ranks of one computer are most often neighbours. */
static void share_cores(struct orr_sim_rank *r)
{
	const char *name = sg_host_get_property_value(r->host, "computer");
	static struct orr_sim_rank *last; /* of the computer that was found last */
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
	} else if (r->cores->ncores != r->ncpus) {
		launcher_fail(
			"the hosts %s and %s are one computer, %s, but one says that it has %u cores and the other %u",
			sg_host_get_name(r->host), sg_host_get_name(other->host), name, r->ncpus,
			r->cores->ncores);
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
		add_dirs(o->machine_path);
	snprintf(gallery, sizeof(gallery), "%s/platforms/machines",
		 data && *data ? data : ORR_DATADIR);
	add_dirs(gallery);
	int has_default = 0;
	char *dir = locate("default");
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
			name_in_turn(o->machine, i, given, sizeof(given));
		struct found *f = name ? machine_load(name,
						      property ? sg_host_get_name(r->host) : NULL)
				       : NULL;
		r->machine = f ? f->machine : NULL;
		r->machine_name = f ? f->machine->name : "default";
		r->ncpus = cores_of(r->host);
		if (o->cpus || !r->ncpus)
			r->ncpus = o->cpus ? (unsigned) o->cpus
				   : f     ? f->machine->ncpus
					   : BUILTIN_CPUS;
		if (r->ncpus == 0)
			launcher_fail("the machine %s has no CPU; give --cpus K", r->machine_name);
		if (r->ncpus > STARPU_MAXCPUS)
			r->ncpus = STARPU_MAXCPUS;
		share_cores(r);
		r->copy_us = per_byte(r->host, "copy_us");
		r->touch_us = per_byte(r->host, "touch_us");
		r->way_us = r->copy_us > 0 ? way_us(r, o->n) : 0;
	}
}
