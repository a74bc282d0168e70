/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the interface that are declared and refuse. tests/headers/interface.py finds them by
 * orr_refuse, for the table in doc/interface.md.
 *
 * Invariant: no function that calls orr_refuse succeeds. */
#ifndef ORR_BASE_REFUSE_H
#define ORR_BASE_REFUSE_H

/* [any] Says that the function is not supported, and what to do instead. Returns -ENOSYS. */
int orr_refuse(const char *function, const char *instead);

#endif
