/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of processing units, as STARPU_WORKERS_CPUID and its relatives take them: "0 2-4 7-".
 *
 * Invariant: a list is understood as a whole or refused with one message; no number in it decides
 * how much memory is asked for, which is asserted. */
#ifndef ORR_BASE_IDS_H
#define ORR_BASE_IDS_H

#define ORR_IDS_MAX 4096

/* Reads numbers and ranges, separated by blanks or commas; a range without an end goes to the last
 * of `units` units. Returns 0 with *n numbers in *v, which the caller frees (NULL when the list is
 * empty); -EINVAL after a message that names the variable, or -ENOMEM. */
int orr_ids_parse(const char *name, const char *text, unsigned units, int **v, unsigned *n);

#endif
