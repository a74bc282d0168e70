/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of a process: environment variables and struct starpu_conf, read once by
 * orr_config_read.
 *
 * Invariant: no other file reads a setting from the environment, but for programs' own
 * starpu_getenv calls; variables that a launcher, OpenCL or the registry of process sets sets; and
 * ORRERY_TRANSPORT, ORRERY_DYN_LOG and the folders of OpenCL programs, which are read where they
 * are used. No assertion can see other files. */
#ifndef ORR_BASE_CONFIG_H
#define ORR_BASE_CONFIG_H

#include "base/config_record.h"

struct orr_process;

/* Fills cfg from the environment. Returns 0, or -EINVAL after a message naming the variable and
 * what it accepts. */
int orr_config_read(struct orr_config *cfg);
void orr_config_free(struct orr_config *cfg);
/* The same again, with texts of its own. `to` holds none. 0 or -ENOMEM. */
int orr_config_copy(struct orr_config *to, const struct orr_config *from);
int orr_config_equal(const struct orr_config *a, const struct orr_config *b);

/* A configuration as this module makes it, with its place among those that are shared. */
struct orr_kept_config {
	struct orr_config cfg;        /* first: a process points to it */
	struct orr_kept_config *next; /* of those that are shared */
	unsigned users;               /* 0: it is a process's own */
};

/* The configuration of a process before its first start: all zero. */
extern const struct orr_config orr_no_config;
/* The one of the process of a real run, from the beginning to the end: always its own, as a thread
 * may read it while another one writes a field. */
extern struct orr_kept_config orr_lasting_config;
/* One that nobody else has, for the process to write to: that which it has, or a copy, which takes
 * its place. */
struct orr_config *orr_config_own(struct orr_process *proc);
/* From now on the process shares an equal one if another process has it. */
void orr_config_share(struct orr_process *proc);
/* A process of a simulated run has none any more. */
void orr_config_end(struct orr_process *proc);

/* Reads a whole number or a switch (0 or 1) where it is needed: variables that are wanted before
 * the start, or have a computed name (STARPU_LIMIT_CUDA_<id>_MEM). The default when unset. Asserts
 * that the name is in a table of config.c, by which orr_config_read() refuses values that cannot be
 * read; before that they count as unset. */
long orr_config_long(const char *name, long dflt);

/* The names of all variables that the runtime reads as numbers, switches or settings of its own, i
 * from 0; NULL behind the last. A `#' stands for a number. */
const char *orr_config_name(unsigned i);
/* Does the runtime read this variable in that way? */
int orr_config_reads(const char *name);

#endif
