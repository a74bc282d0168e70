/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elastic simulated runs: what the launcher and sim/sys share.
 *
 * A run may use as many hosts as --max says. Each has its engine and its driver from the start; a
 * process that joins is a new main actor there, with a copy of the program of its own.
 *
 * Invariant: a host has at most one process of the program at a time. */
#ifndef ORR_SIM_DYN_H
#define ORR_SIM_DYN_H

#include "dyn/script.h"
#include "actors/sim_rank.h"

enum orr_sim_dyn_cost {
	ORR_SIM_DYN_REQUEST, /* a request to the resource manager and its answer */
	ORR_SIM_DYN_START,   /* a start of processes */
	ORR_SIM_DYN_EACH,    /* each of them */
	ORR_SIM_DYN_LEAVE,   /* from the end of a program to when its host is free again */
	ORR_SIM_DYN_JOIN,    /* a connection of processes that did not know each other */
	ORR_SIM_DYN_NCOSTS
};

struct orr_sim_dyn {
	int on, n; /* --elastic; processes at the beginning */
	double us[ORR_SIM_DYN_NCOSTS];
	const char *scenario; /* --scenario */
	/* given by the launcher: the main actor of a process */
	void (*program_main)(struct orr_sim_actor *);
};

extern struct orr_sim_dyn orr_sim_dyn;

/* Begins the registry, before the first actor. */
void orr_sim_dyn_start(const struct orr_dyn_script *script);
/* Called in the main actor of a process: how it began, and that it has ended with that status. */
void orr_sim_dyn_ended(struct orr_sim_rank *r, int status);
/* The number of the host of each process of a group in ranks, which has room for all: 0, or -1. */
int orr_sim_dyn_hosts(void *group, int n, int *ranks);
/* The group of engines, from which groups of processes are made; set by the first engine. */
void orr_sim_dyn_engines(void);

#endif
