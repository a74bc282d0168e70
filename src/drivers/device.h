/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices: units with a memory of their own. Whatever knows of devices (fake ones, simulated ones,
 * a vendor's library) describes them in one table; starpu_init makes a memory node and workers of
 * each entry and never asks where it came from.
 *
 * NUMA nodes but the first come first in it: memories without workers of their own, which CPU
 * workers next to them use.
 *
 * Invariant: entry i becomes memory node i + 1, and its workers are numbered after those of the
 * CPUs, in the order of the table. */
#ifndef ORR_DRIVERS_DEVICE_H
#define ORR_DRIVERS_DEVICE_H

#include "core/worker.h"
#include "data/memnode.h"

struct orr_device {
	enum starpu_worker_archtype arch;
	enum starpu_node_kind kind;
	int devid;         /* among the devices of its kind */
	unsigned nworkers; /* stepped by one thread */
	unsigned pipeline; /* tasks that a worker has at once: 2 or more, and the next one's data
			      come while a kernel runs */
	size_t memory;     /* bytes, 0 = unlimited */
	const struct orr_memnode_ops *memory_ops;
	void *memory_arg; /* kept as the memory node's ops_arg */
	const struct orr_driver_ops *driver;
	void *driver_arg; /* kept as each worker's driver_arg */
	char name[32];    /* of its workers, "CUDA 0" */
};

/* Fills v with at most max devices that this process has and may use; the number, or -errno after a
 * message. */
int orr_devices_list(struct orr_process *proc, struct orr_device *v, unsigned max);
/* The limit that the environment sets to the memory of device devid of a kind ("CUDA", "OPENCL"), 0
 * when none. */
size_t orr_device_limit(const char *kind, int devid, size_t all);

/* drivers/soft.c: a device made of host memory whose kernels are C functions, unnamed. cpu_first: a
 * codelet's function for the CPU goes before that for the device. */
struct orr_device orr_soft_device(struct orr_process *proc, enum starpu_worker_archtype arch,
				  int devid, int cpu_first);
/* drivers/fake.c: ORRERY_FAKE_DEVICES devices of kind CUDA whose memory is host memory and whose
 * kernels are C functions. */
unsigned orr_fake_devices(struct orr_process *proc, struct orr_device *v, unsigned max);
/* drivers/fake_opencl.c: ORRERY_FAKE_OPENCL devices of kind OpenCL whose memory is reached by
 * handle and offset only. */
unsigned orr_fake_opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max);

#endif
