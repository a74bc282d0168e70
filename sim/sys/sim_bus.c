/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The links between the memories of a simulated machine: how long a copy takes, and which copies
 * wait for each other.
 *
 * A copy takes latency + size / bandwidth, as measured between the two memories. It needs
 * - the engine of each device that takes part: a device has one engine for what comes in and one
 * for what goes out;
 * - when main memory takes part, the link that all devices of the node share, which has a capacity
 * per direction (.memory's link_in and link_out, else that of the fastest measured copy in that
 * direction). A copy takes its size from the link: with a link that is twice as fast as a device,
 * two devices copy at full speed.
 * - when a disk takes part, that disk, which serves one copy at a time.
 * What nobody described is assumed (perf.h): buses of fake devices, for one, and disks.
 * Engines and link serve in the order in which copies were asked for, so that the end of a copy is
 * known when it starts. Copies from device to device go beside the shared link: their measured
 * bandwidth says what the way between the two is like.
 *
 * Invariant: no engine moves more than one copy at a time, no link more than its capacity over any
 * backlog. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "sim.h"
#include "base/assert.h"

/* Of devices that were not measured: an allocation, pinning a MiB of main memory. */
#define ALLOC_US 175.0
#define PIN_US 650.0

enum { FROM_MAIN, TO_MAIN };

struct orr_sim_bus {
	double capacity[2]; /* bytes per microsecond of the shared link, by direction; 0: unlimited
			     */
	double link_free[2];
	double alloc_us, pin_us, launch_us;
	struct {
		double in_free, out_free;
	} engine[STARPU_MAXNODES]; /* a disk's: in_free alone */
	unsigned nkernels;         /* that a device executes at once */
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
	struct orr_sim_bus *b = r->bus ? r->bus : calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	const struct orr_machine *m = r->machine;
	for (int d = FROM_MAIN; d <= TO_MAIN && m; d++)
		b->capacity[d] = m->link_mbs[d] > 0 ? m->link_mbs[d] : fastest(m, d);
	b->alloc_us = !orr_sim.alloc_cost ? 0 : measured(m ? m->alloc_us : NAN, ALLOC_US);
	b->pin_us = !orr_sim.alloc_cost ? 0 : measured(m ? m->pin_us : NAN, PIN_US);
	b->launch_us = measured(m ? m->launch_us : NAN, 0);
	b->nkernels = m && m->nkernels ? m->nkernels : 1;
	r->bus = b;
	return 0;
}

void orr_sim_bus_exit(struct orr_sim_rank *r)
{
	free(r->bus);
	r->bus = NULL;
}

void orr_sys_device_alloc_charge(struct orr_process *proc, unsigned memnode)
{
	struct orr_sim_rank *r = proc->sys;
	double now = orr_sys_now_us();
	if (!r->bus || !(r->bus->alloc_us > 0))
		return;
	double *in = &r->bus->engine[memnode].in_free;
	*in = (*in > now ? *in : now) + r->bus->alloc_us;
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
	if (!orr_sim.transfer_cost || c->src == c->dst || !c->size)
		return 0;
	return proc->core_up->copy_us(proc, c);
}

double orr_sys_copy_end_us(struct orr_process *proc, const struct orr_copy *c)
{
	struct orr_sim_rank *r = proc->sys;
	double now = orr_sys_now_us(), start = now, us = alone_us(proc, c);
	int from_device = is_device(c->src_kind), to_device = is_device(c->dst_kind);
	if (!(us > 0))
		return now;
	/* Fake devices and disks come without a description of the machine. */
	if (!r->bus && orr_sim_bus_init(r))
		return now + us;
	struct orr_sim_bus *b = r->bus;
	if (c->src_kind == STARPU_DISK_RAM || c->dst_kind == STARPU_DISK_RAM) {
		unsigned disk = c->src_kind == STARPU_DISK_RAM ? c->src : c->dst;
		double *disk_free = &b->engine[disk].in_free;
		later(&start, *disk_free);
		return *disk_free = start + us;
	}
	int link = from_device == to_device ? -1 : to_device ? FROM_MAIN : TO_MAIN;
	if (from_device)
		later(&start, b->engine[c->src].out_free);
	if (to_device)
		later(&start, b->engine[c->dst].in_free);
	if (link >= 0)
		later(&start, b->link_free[link]);
	orr_assertf((!from_device || start >= b->engine[c->src].out_free) &&
			    (!to_device || start >= b->engine[c->dst].in_free),
		    "an engine moves two copies at a time");
	if (from_device)
		b->engine[c->src].out_free = start + us;
	if (to_device)
		b->engine[c->dst].in_free = start + us;
	orr_assert(start >= now);
	if (link >= 0 && b->capacity[link] > 0)
		b->link_free[link] = start + (double) c->size / b->capacity[link];
	return start + us;
}
