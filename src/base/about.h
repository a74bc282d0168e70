/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The description of a run: lines "name value" that say on what and how it ran. A trace has them in
 * its head, the statistics as comments, and a report as an object of JSON.
 *
 * Invariant: a text has one line for each name, and ends with a line break. What does not fit is
 * cut at the end of a value. */
#ifndef ORR_BASE_ABOUT_H
#define ORR_BASE_ABOUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "orrery.h"

/* Room for a description; it fits into the head of a trace. */
#define ORR_ABOUT_SIZE 3584

struct orr_about {
	char *text;
	size_t size, length; /* of the text, which ends with a null character */
};

/* The work of a process, or of several. */
struct orr_run_work {
	uint64_t tasks;
	unsigned nworkers;
	int timed; /* the times are known, because the run was profiled */
	double joules;
	double waited_s; /* threads could run and got no core; 0 where nobody knows */
	struct orrery_worker_times times;
};

/* The numbers of a run, or of one process of it. */
struct orr_run_totals {
	unsigned nodes;
	struct orr_run_work work;
	double messages, bytes;                 /* between ranks, each hop */
	double logical_messages, logical_bytes; /* each value once for each rank that gets it */
	double makespan_s, peak_rss_bytes;
	char network[128]; /* what carried the messages, "" if nothing did */
};

/* [any] Adds the other process's, or those of an earlier start. */
void orr_run_work_add(struct orr_run_work *to, const struct orr_run_work *more);

/* [any] Adds a line. */
void orr_about_add(struct orr_about *a, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* [any] The settings among the variables of the environment, "A=1 B=2", sorted by name; to be
 * freed. NULL when memory is exhausted. */
char *orr_about_environment(void);
/* [any] The words of a command as one would type them, after `first`; to be freed. NULL when memory
 * is exhausted. */
char *orr_about_command(const char *first, char **words, int n);

/* [any] Writes the lines as comments "# name: value". */
void orr_about_comments(FILE *f, const char *text);
/* [any] Writes them as an object of JSON that is the value of "run", without a comma behind it. */
void orr_about_json(FILE *f, const char *text);
/* [any] Writes them as members of an object of JSON, each after a comma, in one line. */
void orr_about_members(FILE *f, const char *text);
/* [any] Writes a string of JSON. */
void orr_about_string(FILE *f, const char *s);
/* [any] Writes "workers", and the times as an object "worker_times_s" if they are known; each has a
 * comma behind it. */
void orr_about_work(FILE *f, const struct orr_run_work *w);
/* [any] Writes a number of bytes in decimal units for people. */
void orr_about_bytes(FILE *f, double bytes);

#endif
