/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration that the program gave to starpu_init: of 8 KiB, most of which is lists of
 * devices that hardly any program gives. Thousands of simulated processes have equal ones.
 *
 * Invariant: a configuration that is shared does not change. Processes of one address space start
 * and stop in turn, so there is no lock. */
#ifndef ORR_START_SHARED_CONF_H
#define ORR_START_SHARED_CONF_H

#include "base/process.h"

/* The configuration of a process before its first starpu_init: all zero. */
extern struct starpu_conf orr_no_conf;

/* Gives the process one of its own in place of the one that it has: a copy, or, for NULL, the
 * default one. -ENOMEM. */
int orr_conf_begin(struct orr_process *proc, const struct starpu_conf *conf);
/* From now on it shares an equal one if another process has it. */
void orr_conf_share(struct orr_process *proc);
/* It has none any more. */
void orr_conf_end(struct orr_process *proc);

#endif
