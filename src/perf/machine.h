/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machines in files: bus/HOST.* of a place, and what follows from them for transfers.
 *
 * Invariant: orr_machine_load leaves no number in a machine that is not believable. */
#ifndef ORR_PERF_MACHINE_H
#define ORR_PERF_MACHINE_H

#include <stdio.h>

#include "base/machine_record.h"

/* Loads the machine `name` from the first of the directories that has bus/NAME.config. dirs is
 * NULL-terminated. Returns 0 and *out, or -ENOENT / -EINVAL after a message that names file, line
 * and remedy. Files without bandwidth and latency are valid (CPU only). */
int orr_machine_load(const char *name, const char *const *dirs, struct orr_machine **out);
void orr_machine_free(struct orr_machine *m);

/* ---- machine_parse.c: readers of each file, from a text that they destroy ---- */

/* `path` is for messages. All return 0, or -EINVAL after a message. */

/* Prints what was expected in that line. Returns -EINVAL. */
int orr_machine_malformed(const char *path, unsigned line, const char *expected);
/* Sets the numbers of devices and *nmain, the number of rows that stand for main memory. */
int orr_machine_parse_config(char *text, const char *path, struct orr_machine *m, unsigned *nmain);
/* matrix[n * n] gets the first n rows and columns, with a zero diagonal. */
int orr_machine_parse_matrix(char *text, const char *path, unsigned n, double *matrix);
/* Lines "submit_us 0.11", each at most once; costs that no line names are NAN. */
int orr_machine_parse_costs(char *text, const char *path, double costs_us[ORR_NCOSTS]);
/* Lines "cuda0 5375 MiB", "opencl0 2048 MiB", "link_in 6000 MB/s", "link_out 6000 MB/s", "alloc 100
 * us", "pin 650 us" (a MiB), "launch 5 us", "kernels 4 streams", "disk_read 2000 MB/s", "disk_write
 * 1000 MB/s" and "disk_latency 100 us", each at most once. m->memory has room for m->ncuda +
 * m->nopencl sizes, which are 0, as are m->link_mbs and m->disk_mbs; m->alloc_us, m->pin_us,
 * m->launch_us and m->disk_us are NAN. */
int orr_machine_parse_memory(char *text, const char *path, struct orr_machine *m);
/* Lines "idle 80 W" (the whole machine, doing nothing) and "cpu 8 W", "cuda 150 W", "opencl 150 W"
 * (a worker that executes a kernel, on top), each at most once. */
int orr_machine_parse_power(char *text, const char *path, struct orr_machine *m);
/* The slowdown of kernels by each other: a curve for each name (machine_contention.c). *out is for
 * orr_contention_free(). Also returns -ENOMEM, without a message. */
int orr_machine_parse_contention(char *text, const char *path, struct orr_contention **out);
/* Warns if a line is no list of processors. Nothing else is made of affinities. */
void orr_machine_check_affinity(char *text, const char *path);

/* ---- machine_bus.c: times of transfers ---- */

/* Assumed of disks, and of buses, that nobody described. */
#define ORR_MACHINE_DISK_READ_MBS 2000.0
#define ORR_MACHINE_DISK_WRITE_MBS 1000.0
#define ORR_MACHINE_DISK_US 100.0
#define ORR_MACHINE_BUS_MBS 8000.0
#define ORR_MACHINE_BUS_US 10.0

/* One end of a transfer: a memory of the machine. CPU_RAM 0 is main memory, or its first NUMA node.
 */
struct orr_machine_end {
	enum starpu_node_kind kind;
	int devid;
};

/* Between two different memories, of a machine that may be NULL: not described. In microseconds and
 * MB/s; NAN: not known. The way between a disk and another memory is known if one of them is main
 * memory. */
double orr_machine_latency(const struct orr_machine *m, struct orr_machine_end src,
			   struct orr_machine_end dst);
double orr_machine_bandwidth(const struct orr_machine *m, struct orr_machine_end src,
			     struct orr_machine_end dst);
/* The time that a transfer of that size takes; NAN: not known. From and to a disk: as described,
 * else as assumed; between a disk and a device it goes through main memory. */
double orr_machine_transfer_us(const struct orr_machine *m, struct orr_machine_end src,
			       struct orr_machine_end dst, size_t size);

#endif
