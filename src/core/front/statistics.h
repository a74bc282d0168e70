/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of a process as records for tools (base/records.h), beside what is printed for
 * people: workers, copies between memory nodes, memory, energy. The MPI layer adds its own.
 *
 * Invariant: a record has every field that doc/statistics.md lists for it; a number that is not
 * known is null. The numbers are those that the process prints at the same moment. */
#ifndef ORR_CORE_STATISTICS_H
#define ORR_CORE_STATISTICS_H

#include <stddef.h>

struct orr_process;

/* At the start: the file can be written, and is begun. 0, or -errno after a message. */
int orr_statistics_prepare(struct orr_process *proc);
/* [main] At the end, while the runtime is up: appends the records, if somebody wants them. */
void orr_statistics_write(struct orr_process *proc);
/* [any] Appends records of another floor. */
void orr_statistics_add(struct orr_process *proc, const char *text, size_t size);

#endif
