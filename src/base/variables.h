/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of environment variables.
 *
 * Invariant: a name that begins like one of ours and that nothing reads is told once, with the
 * nearest name that something reads. Names that doc/environment.md lists are known
 * (tests/core/env_all.sh compares). */
#ifndef ORR_BASE_VARIABLES_H
#define ORR_BASE_VARIABLES_H

/* Tells of variables of the environment that begin with STARPU_ or ORRERY_ and that nobody reads.
 */
void orr_variables_check(void);

/* Does anything read a variable of that name, or accept it without effect? */
int orr_variables_known(const char *name);

/* The name that was probably meant, or NULL if none is near. A `#' in it stands for a number. */
const char *orr_variables_nearest(const char *name);

#endif
