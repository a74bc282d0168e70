/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The links between the memories of a simulated machine: how long a copy takes, and which copies
 * wait for each other.
 *
 * A copy takes latency + size / bandwidth, as measured between the two memories. It needs
 * - the engine of each device that takes part: a device has one engine for what comes in and one
 * for what goes out, and each serves in the order in which copies were asked for;
 * - when main memory takes part, the link that all devices of the node share (sim_lanes.c);
 * - when a disk takes part, that disk, which serves one copy at a time.
 * A copy within main memory is made by a processor.
 * What nobody described is assumed (perf.h): buses of fake devices, for one, and disks.
 * Copies from device to device go beside the shared link: their measured bandwidth says what the
 * way between the two is like.
 *
 * Invariant: a disk moves one copy at a time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "actors/sim_rank.h"
#include "machine/sim_bus.h"
#include "machine/sim_lanes.h"
#include "base/upcalls.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"

/* Of devices that were not measured: an allocation, pinning a MiB of main memory. */
#define ALLOC_US 175.0
#define PIN_US 650.0

enum { FROM_MAIN, TO_MAIN };

struct orr_sim_bus {
	struct orr_sim_lanes *lanes;
	double alloc_us, pin_us, launch_us;
	double disk_free[STARPU_MAXNODES];
	unsigned nkernels; /* that a device executes at once */
	double kernel_free[STARPU_MAXNODES][ORR_MAX_KERNELS];
};

/* The fastest copy between main memory and a device. */
static double fastest(const struct orr_machine *m, int direction)
{
	double best = 0;
	for (unsigned k = 0; m->bandwidth && k < m->nnuma; k++) {
		for (unsigned i = m->nnuma; i < m->nmemnodes; i++) {
			double v = m->bandwidth[direction == FROM_MAIN ? k * m->nmemnodes + i
								       : i * m->nmemnodes + k];
			if (v > best)
				best = v;
		}
	}
	return best;
}

static void later(double *t, double other)
{
	if (other > *t)
		*t = other;
}

static double measured(double us, double otherwise)
{
	return isnan(us) ? otherwise : us;
}

int orr_sim_bus_init(struct orr_sim_rank *r)
{
	struct orr_sim_bus *b = r->bus ? NULL : calloc(1, sizeof(*b));
	const struct orr_machine *m = r->machine;
	if (r->bus)
		return 0;
	double capacity[2] = { 0 }; /* bytes per microsecond */
	for (int d = FROM_MAIN; d <= TO_MAIN && m; d++)
		capacity[d] = m->link_mbs[d] > 0 ? m->link_mbs[d] : fastest(m, d);
	if (!b || !(b->lanes = orr_sim_lanes_new(capacity))) {
		free(b);
		return -ENOMEM;
	}
	b->alloc_us = !orr_sim.alloc_cost ? 0 : measured(m ? m->alloc_us : NAN, ALLOC_US);
	b->pin_us = !orr_sim.alloc_cost ? 0 : measured(m ? m->pin_us : NAN, PIN_US);
	b->launch_us = measured(m ? m->launch_us : NAN, 0);
	b->nkernels = m && m->nkernels ? m->nkernels : 1;
	r->bus = b;
	return 0;
}

void orr_sim_bus_exit(struct orr_sim_rank *r)
{
	if (r->bus)
		orr_sim_lanes_free(r->bus->lanes);
	free(r->bus);
	r->bus = NULL;
}

static uint64_t add(struct orr_sim_rank *r, const struct orr_sim_load *load)
{
	uint64_t number = orr_sim_lanes_add(r->bus->lanes, orr_sys_now_us(), load);
	if (!number)
		orr_fatal("out of memory for the copies of devices; simulate fewer nodes");
	return number;
}

void orr_sys_device_alloc_charge(struct orr_process *proc, unsigned memnode)
{
	struct orr_sim_rank *r = proc->sys;
	if (!r->bus || !(r->bus->alloc_us > 0))
		return;
	add(r, &(struct orr_sim_load){ .engine = { -1, (int) memnode },
				       .link = -1,
				       .latency_us = r->bus->alloc_us });
}

void orr_sys_pin_charge(struct orr_process *proc, size_t size)
{
	const struct orr_sim_rank *r = proc->sys;

	if (r->bus)
		orr_thread_self()->debt_us += r->bus->pin_us * (double) size / (1 << 20);
}

double orr_sim_bus_kernel_end(struct orr_sim_rank *r, unsigned memnode, double us)
{
	double now = orr_sys_now_us(), *slot;
	if (!r->bus)
		return now + us;
	slot = r->bus->kernel_free[memnode];
	for (unsigned i = 1; i < r->bus->nkernels; i++)
		if (r->bus->kernel_free[memnode][i] < *slot)
			slot = &r->bus->kernel_free[memnode][i];
	/* A launch takes time, unless kernels before it cover that. */
	later(slot, now + r->bus->launch_us);
	*slot += us;
	orr_assert(us >= 0 && *slot >= now);
	return *slot;
}

static int is_device(enum starpu_node_kind kind)
{
	return kind == STARPU_CUDA_RAM || kind == STARPU_OPENCL_RAM;
}

/* The time that a copy takes by itself; 0: none. */
static double alone_us(struct orr_process *proc, const struct orr_copy *c)
{
	if (!orr_sim.transfer_cost || !c->size)
		return 0;
	if (c->src == c->dst)
		return is_device(c->src_kind) ? 0 : (double) c->size / ORR_SIM_COPY_MBS;
	return proc->core_up->copy_us(proc, c);
}

double orr_sys_copy_start(struct orr_process *proc, const struct orr_copy *c, uint64_t *number)
{
	struct orr_sim_rank *r = proc->sys;
	double now = orr_sys_now_us(), us = alone_us(proc, c);
	int from_device = is_device(c->src_kind), to_device = is_device(c->dst_kind);
	*number = 0;
	if (!(us > 0))
		return now;
	/* Fake devices and disks come without a description of the machine. */
	if (!r->bus && orr_sim_bus_init(r))
		return now + us;
	if (c->src_kind == STARPU_DISK_RAM || c->dst_kind == STARPU_DISK_RAM) {
		double *free_us =
			&r->bus->disk_free[c->src_kind == STARPU_DISK_RAM ? c->src : c->dst];
		later(free_us, now);
		return *free_us += us;
	}
	if (!from_device && !to_device)
		return now + us;
	struct orr_copy none = *c;
	none.size = 0;
	double latency_us = fmin(proc->core_up->copy_us(proc, &none), us);
	struct orr_sim_load load = { .engine = { from_device ? (int) c->src : -1,
						 to_device ? (int) c->dst : -1 },
				     .link = from_device == to_device ? -1
					     : to_device              ? FROM_MAIN
								      : TO_MAIN,
				     .latency_us = latency_us,
				     .bytes = us > latency_us ? (double) c->size : 0,
				     .rate = (double) c->size / (us - latency_us) };
	*number = add(r, &load);
	return orr_sys_copy_end_us(proc, *number);
}

double orr_sys_copy_end_us(struct orr_process *proc, uint64_t number)
{
	struct orr_sim_rank *r = proc->sys;
	double now = orr_sys_now_us();
	return number && r->bus ? orr_sim_lanes_end_us(r->bus->lanes, now, number) : now;
}
