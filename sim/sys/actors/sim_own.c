/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exchange of what a process has for itself when another actor gets the processor (sim_own.h
 * says what that is).
 *
 * SimGrid tells of each change of actor by a function that the launcher takes
 * (sim/launcher/interpose_own.c). Measured: 20 ns beside the 140 to 400 ns of the change itself;
 * what no rank has changed costs nothing more.
 *
 * Invariant: `at` is the rank whose values the system has; `running` the actor whose errno is the
 * thread's. */
#include "actors/sim_own.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "actors/sim_actor_record.h"
#include "actors/sim_glue.h"
#include "actors/sim_guard.h"
#include "actors/sim_rank.h"
#include "actors/sim_share.h"
#include "actors/sim_streams.h"
#include "actors/sim_private.h"
#include "base/log.h"
#include "base/map.h"

extern char **environ;

int orrery_sim_asked = 2;
int orr_sim_own_streams;

static struct orr_sim_own nobody = { .folder = -1, .mask = -1, .optind = 1, .opterr = 1 };

static struct {
	struct orr_map contexts; /* struct orr_sim_context */
	struct orr_sim_actor *running, *expected;
	void *outside; /* a context that is no actor's of ours, mostly SimGrid's own */
	struct orr_sim_rank *at;
	int *number;        /* errno of the thread that all actors are */
	char **environment; /* the launcher's */
	int folder, mask;   /* the launcher's, once a rank has changed its own; else -1 */
	int locales;        /* some rank has chosen a locale */
} own = { .contexts = { .key_offset = offsetof(struct orr_sim_context, key) },
	  .folder = -1,
	  .mask = -1 };

/* This is the thread of the system that all actors are. */
static __thread int simulates;

void orr_sim_leave(int status)
{
	void (*last_words)(void) = orr_sim.last_words;

	orr_sim.last_words = NULL;
	if (last_words)
		last_words();
	for (;;)
		syscall(SYS_exit_group, status);
}

struct orr_sim_own *orrery_sim_own(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a && a->rank ? &a->rank->own : &nobody;
}

int orrery_sim_in_rank(void)
{
	return orr_sim_actor_self() != NULL;
}

const char *orrery_sim_program(void)
{
	return orr_sim.program;
}

/* ---- the unfinished line ---- */

/* The text since the last newline leaves the buffer of standard output, which is written when it is
 * full: so lines of two ranks never mix, as long as they fit into it. */
static void line_take(struct orr_sim_own *o)
{
	char *from = stdout->_IO_write_base, *to = stdout->_IO_write_ptr;
	if (!from || to <= from || to[-1] == '\n')
		return;
	char *newline = memrchr(from, '\n', (size_t) (to - from));
	if (newline)
		from = newline + 1;
	size_t n = (size_t) (to - from);
	if (n > o->line_room) {
		char *room = realloc(o->line, n + 80);
		if (!room)
			return;
		o->line = room;
		o->line_room = n + 80;
	}
	memcpy(o->line, from, n);
	o->line_length = n;
	stdout->_IO_write_ptr = from;
}

static void line_give(struct orr_sim_own *o)
{
	if (!o->line_length)
		return;
	fwrite(o->line, 1, o->line_length, stdout);
	o->line_length = 0;
}

void orr_sim_own_lines(void)
{
	for (int i = 0; orr_sim.ranks && i < orr_sim.nranks; i++)
		line_give(&orr_sim.ranks[i].own);
}

/* ---- exchange ---- */

static void folder_change(const struct orr_sim_own *from, const struct orr_sim_own *to)
{
	int fd = to->folder >= 0 ? to->folder : own.folder;
	if (from->folder != to->folder && syscall(SYS_fchdir, fd))
		fprintf(stderr,
			"orrery sim: the working directory of a rank cannot be restored: %s\n",
			strerror(errno));
}

static void leave_rank(struct orr_sim_rank *r)
{
	struct orr_sim_own *o = &r->own;
	o->has_environment |= environ != own.environment;
	o->environment = environ;
	o->optind = optind;
	o->opterr = opterr;
	o->optopt = optopt;
	o->optarg = optarg;
	if (orr_sim_own_streams)
		orr_sim_streams_leave(&o->streams);
	if (!r->ended)
		line_take(o);
}

static void enter_rank(const struct orr_sim_own *from, struct orr_sim_own *o)
{
	environ = o->has_environment ? o->environment : own.environment;
	optind = o->optind;
	opterr = o->opterr;
	optopt = o->optopt;
	optarg = o->optarg;
	if (own.folder >= 0)
		folder_change(from, o);
	if (own.mask >= 0 && from->mask != o->mask)
		syscall(SYS_umask, o->mask >= 0 ? o->mask : own.mask);
	if (own.locales && from->locale != o->locale)
		uselocale(o->locale ? o->locale : LC_GLOBAL_LOCALE);
	if (o->streams)
		orr_sim_streams_enter(o->streams);
	line_give(o);
}

static void go_on(struct orr_sim_actor *a)
{
	if (a->rank != own.at) {
		if (own.at)
			leave_rank(own.at);
		enter_rank(own.at ? &own.at->own : &nobody, &a->rank->own);
		own.at = a->rank;
	}
	own.running = a;
	orr_sim_private_enter(a);
	*own.number = a->saved_errno;
}

struct orr_sim_actor *orr_sim_own_running(void)
{
	return simulates ? own.running : NULL;
}

struct orr_sim_actor *orr_sim_own_beside(void)
{
	return simulates ? NULL : own.running;
}

void orr_sim_own_expect(struct orr_sim_actor *a)
{
	own.expected = a;
}

static struct orr_sim_actor *actor_of(void *context)
{
	struct orr_sim_actor *a = own.expected;
	own.expected = NULL;
	if (context == own.outside)
		return NULL;
	if (a && a->context.key == (uint64_t) (uintptr_t) context)
		return a;
	struct orr_sim_context *c = orr_map_find(&own.contexts, (uint64_t) (uintptr_t) context);
	if (!c)
		own.outside = context;
	return c ? c->actor : NULL;
}

void orr_sim_own_become(struct orr_sim_actor *a)
{
	__atomic_store_n(&orr_sim.nchanges, orr_sim.nchanges + 1, __ATOMIC_RELAXED);
	if (__builtin_expect(__atomic_load_n(&orr_sim.attention, __ATOMIC_RELAXED), 0))
		orr_sim.attend();
	if (own.running)
		own.running->saved_errno = *own.number;
	own.running = NULL;
	if (a)
		go_on(a);
}

void orrery_sim_switched(void *context)
{
	orr_sim_called.set_current = 1;
	orr_sim_own_become(actor_of(context));
}

void orr_sim_own_know(struct orr_sim_context *c)
{
	if (!own.environment)
		own.environment = environ;
	simulates = 1;
	own.number = &errno;
	c->key = (uint64_t) (uintptr_t) orr_sim_glue_context();
	own.outside = NULL;
	if (orr_map_insert(&own.contexts, c))
		orr_fatal("out of memory for another actor; simulate fewer nodes");
}

void orr_sim_own_enter(struct orr_sim_actor *a)
{
	a->context.actor = a;
	a->saved_errno = 0;
	orr_sim_own_know(&a->context);
	go_on(a);
}

void orr_sim_own_leave(struct orr_sim_actor *a)
{
	orr_map_remove(&own.contexts, &a->context);
	if (own.running == a)
		own.running = NULL;
}

void orr_sim_own_renew(struct orr_sim_rank *r)
{
	struct orr_sim_own *o = &r->own;
	orr_sim_share_renew(r->rank);
	if (own.at == r) {
		environ = own.environment;
		if (orr_sim_own_streams)
			orr_sim_streams_leave(&o->streams);
		if (o->folder >= 0 && own.folder >= 0 && syscall(SYS_fchdir, own.folder))
			fprintf(stderr,
				"orrery sim: the working directory cannot be restored: %s\n",
				strerror(errno));
		own.at = NULL;
	}
	if (o->folder >= 0)
		close(o->folder);
	if (o->locale)
		freelocale(o->locale);
	orr_sim_streams_free(&o->streams);
	free(o->line);
	free(o->actions);
	free(o->rare);
	*o = (struct orr_sim_own){ .folder = -1, .mask = -1, .optind = 1, .opterr = 1 };
}

/* ---- changes ---- */

static int folder_here(void)
{
	return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int orrery_sim_chdir(const char *path, int fd)
{
	struct orr_sim_own *o = orrery_sim_own();
	if (o != &nobody && own.folder < 0 && (own.folder = folder_here()) < 0)
		return -1;
	int before = o->folder >= 0 ? o->folder : own.folder;
	if (path ? syscall(SYS_chdir, path) : syscall(SYS_fchdir, fd))
		return -1;
	if (o == &nobody)
		return 0;
	int here = folder_here();
	if (here < 0) {
		syscall(SYS_fchdir, before);
		return -1;
	}
	if (o->folder >= 0)
		close(o->folder);
	o->folder = here;
	return 0;
}

int orrery_sim_umask(int mask)
{
	struct orr_sim_own *o = orrery_sim_own();
	int before = (int) syscall(SYS_umask, mask);
	if (o == &nobody)
		return before;
	if (own.mask < 0)
		own.mask = before;
	o->mask = mask & 0777;
	return before;
}

/* ---- locale ---- */

static const struct {
	int category, mask;
	const char *name;
} categories[] = {
	{ LC_CTYPE, LC_CTYPE_MASK, "LC_CTYPE" },
	{ LC_NUMERIC, LC_NUMERIC_MASK, "LC_NUMERIC" },
	{ LC_TIME, LC_TIME_MASK, "LC_TIME" },
	{ LC_COLLATE, LC_COLLATE_MASK, "LC_COLLATE" },
	{ LC_MONETARY, LC_MONETARY_MASK, "LC_MONETARY" },
	{ LC_MESSAGES, LC_MESSAGES_MASK, "LC_MESSAGES" },
	{ LC_PAPER, LC_PAPER_MASK, "LC_PAPER" },
	{ LC_NAME, LC_NAME_MASK, "LC_NAME" },
	{ LC_ADDRESS, LC_ADDRESS_MASK, "LC_ADDRESS" },
	{ LC_TELEPHONE, LC_TELEPHONE_MASK, "LC_TELEPHONE" },
	{ LC_MEASUREMENT, LC_MEASUREMENT_MASK, "LC_MEASUREMENT" },
	{ LC_IDENTIFICATION, LC_IDENTIFICATION_MASK, "LC_IDENTIFICATION" },
};
enum { NCATEGORIES = sizeof(categories) / sizeof(*categories) };

static const char *name_in(locale_t locale, int category)
{
	return locale ? nl_langinfo_l(_NL_LOCALE_NAME(category), locale) : "C";
}

/* All categories by one name, or by a list of names as setlocale() makes it. */
static const char *name_of_all(locale_t locale)
{
	static char text[NCATEGORIES * 64];
	const char *first = name_in(locale, LC_CTYPE);
	size_t n = 0;
	int same = 1;
	for (int i = 0; i < NCATEGORIES && n < sizeof(text); i++) {
		const char *name = name_in(locale, categories[i].category);
		same &= !strcmp(name, first);
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s=%s", i ? ";" : "",
				       categories[i].name, name);
	}
	return same ? first : text;
}

char *orrery_sim_setlocale(int category, const char *name)
{
	struct orr_sim_own *o = orrery_sim_own();
	int mask = category == LC_ALL ? LC_ALL_MASK : 0;
	for (int i = 0; i < NCATEGORIES; i++)
		if (categories[i].category == category)
			mask = categories[i].mask;
	if (!mask)
		return NULL;
	if (name) {
		locale_t base = o->locale ? duplocale(o->locale)
					  : newlocale(LC_ALL_MASK, "C", (locale_t) 0);
		locale_t chosen = base ? newlocale(mask, name, base) : (locale_t) 0;
		if (!chosen) {
			if (base)
				freelocale(base);
			return NULL;
		}
		uselocale(chosen);
		if (o->locale)
			freelocale(o->locale);
		o->locale = chosen;
		own.locales = 1;
	}
	return (char *) (category == LC_ALL ? name_of_all(o->locale)
					    : name_in(o->locale, category));
}
