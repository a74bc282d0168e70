/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line of the examples: a walk over argv in which each option is asked for by name.
 *
 * Invariant: nothing here writes to argv or keeps state outside the struct, because in a simulated
 * run thousands of ranks read the same arguments inside one process (which is also why getopt and
 * its globals are not used).
 *
 *      struct options o;
 *      for (options_begin(&o, argc, argv); options_more(&o); )
 *              if (options_int(&o, "--loops", "-n", 1, INT_MAX, &loops)) ;
 *              else if (options_flag(&o, "--check", NULL)) check = 1;
 *              else options_unknown(&o);
 *
 * A mistake does not end the program at once: the walk stops, and options_report() tells rank 0's
 * user after MPI is up, once rather than once per rank.
 */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	int argc;
	char **argv;
	int at;          /* the argument under consideration */
	int help;        /* --help or -h was seen */
	char error[160]; /* empty while all is well */
};

static inline void options_begin(struct options *o, int argc, char **argv)
{
	memset(o, 0, sizeof(*o));
	o->argc = argc;
	o->argv = argv;
	o->at = 1;
}

static inline int options_is(const struct options *o, const char *name, const char *other)
{
	const char *arg = o->argv[o->at];

	return !strcmp(arg, name) || (other && !strcmp(arg, other));
}

/* True while an argument is left and none was wrong; takes care of --help. */
static inline int options_more(struct options *o)
{
	while (o->at < o->argc && !o->error[0] && options_is(o, "--help", "-h")) {
		o->help = 1;
		o->at++;
	}
	return o->at < o->argc && !o->error[0];
}

/* Consumes the option `name` (or `other`, may be NULL) that takes no value; returns whether it was
 * there. */
static inline int options_flag(struct options *o, const char *name, const char *other)
{
	if (!options_is(o, name, other))
		return 0;
	o->at++;
	return 1;
}

/* Consumes the option `name` (or `other`) and its integer between `min` and `max`; returns whether
 * it was there. */
static inline int options_int(struct options *o, const char *name, const char *other, int min,
			      int max, int *value)
{
	const char *text;
	char *end;
	long number;

	if (!options_is(o, name, other))
		return 0;
	text = o->at + 1 < o->argc ? o->argv[o->at + 1] : "";
	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end || errno || number < min || number > max)
		snprintf(o->error, sizeof(o->error),
			 "%s takes an integer from %d to %d, not '%.40s'", o->argv[o->at], min, max,
			 text);
	else
		*value = (int) number;
	o->at += 2;
	return 1;
}

/* Consumes the option `name` and the word after it; returns whether it was there. */
static inline int options_text(struct options *o, const char *name, const char **value)
{
	if (!options_is(o, name, NULL))
		return 0;
	if (o->at + 1 < o->argc)
		*value = o->argv[o->at + 1];
	else
		snprintf(o->error, sizeof(o->error), "%s takes a word", name);
	o->at += 2;
	return 1;
}

static inline void options_unknown(struct options *o)
{
	snprintf(o->error, sizeof(o->error), "unknown argument '%.80s'", o->argv[o->at]);
}

/*
 * Says what was wrong, or gives the help that was asked for, if `rank` is 0. Returns -1 when the
 * program shall go on, otherwise its exit status: 0 after --help, 1 after a mistake.
 */
static inline int options_report(const struct options *o, int rank, const char *program,
				 const char *usage)
{
	if (o->error[0]) {
		if (rank == 0)
			fprintf(stderr, "%s: %s; '%s --help' lists the options\n", program,
				o->error, program);
		return 1;
	}
	if (!o->help)
		return -1;
	if (rank == 0)
		printf("usage: %s %s", program, usage);
	return 0;
}

#endif /* EXAMPLES_OPTIONS_H */
