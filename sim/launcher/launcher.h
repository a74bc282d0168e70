/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the launcher share. The launcher reads its options, loads platform and program,
 * makes three actors per rank and lets SimGrid run until the last rank's program has ended.
 *
 * Invariant: whatever the user got wrong is found before the first actor runs and ends in
 * launcher_fail: one message, status 1. */
#ifndef ORR_LAUNCHER_H
#define ORR_LAUNCHER_H

#include "glue.h"
#include "sim.h"

struct launcher_options {
	int n;
	const char *platform;     /* NULL: the default cluster */
	const char *machine;      /* NULL: each host's property, else "default" */
	const char *machine_path; /* colon-separated, or NULL */
	int cpus;                 /* 0: the machine's */
	long stack_kib;           /* of main, 0: chosen by the number of ranks */
	double noise_factor;      /* of --noise, negative: not given */
	int seed_given;
	const char **cfg; /* SimGrid settings, ncfg of them */
	int ncfg;
	char **program; /* program and its arguments */
	int nprogram;
};

/* options.c: fills o and the settings of orr_sim; does not return when there is nothing to run. */
void launcher_options_read(struct launcher_options *o, int argc, char **argv);
/* Whether the user gave this cost (enum orr_cost): then no machine's measurement counts. */
int launcher_cost_given(int cost);

/* The whole number in a variable of the environment; `without` when it is not set. */
double launcher_variable_whole(const char *name, double least, double most, double without);

/* noise.c: completes the settings of variability. */
void launcher_noise_read(const struct launcher_options *o);
/* The factor by which everything that the rank computes takes longer. */
double launcher_noise_slowness(int rank);

/* program.c: checks that path is a program for the simulated world; later loads a private copy and
 * returns its entry. */
void launcher_program_check(const char *path);
int (*launcher_program_load(void))(int, char **);

/* machines.c: finds the machine of each rank. */
void launcher_machines_find(const struct launcher_options *o);

/* ending.c: exit(), signals, deadlock, and the normal end; more in glue.h. */
void launcher_ending_init(void);
void launcher_finish(int status) __attribute__((noreturn));

#endif
