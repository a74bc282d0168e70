/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* setenv() and its relatives, for an environment that each rank has for itself. The C library's
 * functions extend the array that they allocated last, whose rank may be another one.
 *
 * Invariant: the array that the simulation was started with, and its texts, are never changed; an
 * array that was allocated here belongs to one rank. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "interpose.h"
#include "actors/sim_own.h"

extern char **environ;

static size_t count(char **all)
{
	size_t n = 0;
	while (all && all[n])
		n++;
	return n;
}

/* The place of the name in the environment, or NULL. */
static char **find(const char *name, size_t length)
{
	for (char **at = environ; at && *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return at;
	return NULL;
}

/* Makes the environment the rank's, with room for one more. 0 or -1. */
static int make_own(void)
{
	struct orr_sim_own *o = orrery_sim_own();
	size_t n = count(environ);
	int mine = o->allocated && environ == o->allocated;
	char **all = realloc(mine ? environ : NULL, (n + 2) * sizeof(*all));
	if (!all)
		return -1;
	if (!mine && n)
		memcpy(all, environ, n * sizeof(*all));
	all[n] = all[n + 1] = NULL;
	environ = o->allocated = all;
	return 0;
}

/* NAME=VALUE in place of what has that name, or behind all. */
static int put(char *setting, size_t length)
{
	if (make_own())
		return -1;
	char **at = find(setting, length);
	if (!at)
		at = environ + count(environ);
	*at = setting;
	return 0;
}

static int refuse(const char *name)
{
	if (name && *name && !strchr(name, '='))
		return 0;
	errno = EINVAL;
	return -1;
}

int setenv(const char *name, const char *value, int overwrite)
{
	if (refuse(name))
		return -1;
	size_t length = strlen(name), more = strlen(value);
	if (!overwrite && find(name, length))
		return 0;
	/* Never freed: getenv() may have given it away. */
	char *setting = malloc(length + more + 2);
	if (!setting)
		return -1;
	memcpy(setting, name, length);
	setting[length] = '=';
	memcpy(setting + length + 1, value, more + 1);
	return put(setting, length);
}

int unsetenv(const char *name)
{
	char **at;
	if (refuse(name))
		return -1;
	size_t length = strlen(name);
	if (!find(name, length))
		return 0;
	if (make_own())
		return -1;
	while ((at = find(name, length)))
		for (; *at; at++)
			*at = at[1];
	return 0;
}

int putenv(char *setting)
{
	const char *equals = strchr(setting, '=');
	return equals ? put(setting, (size_t) (equals - setting)) : unsetenv(setting);
}

int clearenv(void)
{
	if (make_own())
		return -1;
	*environ = NULL;
	return 0;
}
