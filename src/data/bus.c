/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buses: the way from each memory node to each other one, and counts of the copies on it.
 *
 * Memory nodes are added one by one, so the buses of node m are numbered after all those among the
 * nodes before it: from m * (m - 1) on the m buses that lead to it, then the m that lead from it.
 *
 * Invariant: a bus keeps its number. Counters only grow; the counts that the program saw last are
 * kept beside them. */
#include "data/bus.h"
#include "base/notice.h"
#include "data/data.h"
#include "base/numbers.h"
#include "orrery.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int bus_id(unsigned src, unsigned dst)
{
	unsigned last = src > dst ? src : dst;

	return (int) (last * (last - 1) + (dst == last ? src : last + dst));
}

static struct orr_bus *bus_of(struct orr_process *proc, unsigned src, unsigned dst)
{
	orr_assert(src != dst && src < proc->data->nmemnodes && dst < proc->data->nmemnodes);
	return dst > src ? &proc->data->memnodes[dst]->bus[src]
			 : &proc->data->memnodes[src]->bus[src + dst];
}

/* The ends of a bus; 0 when it does not exist. */
static int ends(int busid, unsigned *src, unsigned *dst)
{
	unsigned last = 1;

	if (busid < 0 || busid >= starpu_bus_get_count())
		return 0;
	while ((last + 1) * last <= (unsigned) busid)
		last++;
	unsigned k = (unsigned) busid - last * (last - 1);
	*src = k < last ? k : last;
	*dst = k < last ? last : k - last;
	return 1;
}

void orr_bus_count(struct orr_process *proc, unsigned src, unsigned dst, uint64_t bytes)
{
	struct orr_bus *b = bus_of(proc, src, dst);

	ORR_ATOMIC_ADD_RELAXED(&b->bytes, bytes);
	ORR_ATOMIC_ADD_RELAXED(&b->count, 1);
}

void orr_bus_counts(struct orr_process *proc, unsigned src, unsigned dst, uint64_t *bytes,
		    uint64_t *count)
{
	const struct orr_bus *b = bus_of(proc, src, dst);

	*bytes = ORR_ATOMIC_LOAD_RELAXED(&b->bytes);
	*count = ORR_ATOMIC_LOAD_RELAXED(&b->count);
}

int orrery_transfer_bytes(unsigned memnode, uint64_t *in, uint64_t *out)
{
	struct orr_process *proc = orr_self();
	uint64_t sum_in = 0, sum_out = 0;
	unsigned n = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);

	if (memnode >= n)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++) {
		if (i == memnode)
			continue;
		sum_in += ORR_ATOMIC_LOAD_RELAXED(&bus_of(proc, i, memnode)->bytes);
		sum_out += ORR_ATOMIC_LOAD_RELAXED(&bus_of(proc, memnode, i)->bytes);
	}
	if (in)
		*in = sum_in;
	if (out)
		*out = sum_out;
	return 0;
}

/* ---- public ---- */

int starpu_bus_get_count(void)
{
	unsigned n = ORR_ATOMIC_LOAD(&orr_self()->data->nmemnodes);

	return n > 1 ? (int) (n * (n - 1)) : 0;
}

int starpu_bus_get_id(int src, int dst)
{
	int n = (int) ORR_ATOMIC_LOAD(&orr_self()->data->nmemnodes);

	if (src < 0 || dst < 0 || src >= n || dst >= n || src == dst)
		return -1;
	return bus_id((unsigned) src, (unsigned) dst);
}

int starpu_bus_get_src(int busid)
{
	unsigned src, dst;

	return ends(busid, &src, &dst) ? (int) src : -1;
}

int starpu_bus_get_dst(int busid)
{
	unsigned src, dst;

	return ends(busid, &src, &dst) ? (int) dst : -1;
}

static struct orr_bus *find(int busid)
{
	unsigned src, dst;

	return ends(busid, &src, &dst) ? bus_of(orr_self(), src, dst) : NULL;
}

void starpu_bus_set_direct(int busid, int direct)
{
	struct orr_bus *b = find(busid);

	if (b)
		ORR_ATOMIC_STORE_RELAXED(&b->direct, direct);
}

int starpu_bus_get_direct(int busid)
{
	const struct orr_bus *b = find(busid);

	return b ? ORR_ATOMIC_LOAD_RELAXED(&b->direct) : 0;
}

void starpu_bus_set_ngpus(int busid, int ngpus)
{
	struct orr_bus *b = find(busid);

	if (b)
		ORR_ATOMIC_STORE_RELAXED(&b->ngpus, ngpus);
}

int starpu_bus_get_ngpus(int busid)
{
	const struct orr_bus *b = find(busid);

	return b ? ORR_ATOMIC_LOAD_RELAXED(&b->ngpus) : 0;
}

static struct timespec timespec_of(double us)
{
	struct timespec ts = { .tv_sec = (time_t) (us * 1e-6) };

	ts.tv_nsec = (long) ((us - (double) ts.tv_sec * 1e6) * 1e3);
	return ts;
}

int starpu_bus_get_profiling_info(int busid, struct starpu_profiling_bus_info *bus_info)
{
	struct orr_process *proc = orr_self();
	double now = orr_sys_now_us();
	uint64_t bytes, count;
	unsigned src, dst;

	if (!ends(busid, &src, &dst))
		return -EINVAL;
	struct orr_memnode *m = proc->data->memnodes[src > dst ? src : dst];
	struct orr_bus *b = bus_of(proc, src, dst);
	orr_lock(&m->lock);
	struct orr_bus old = *b;
	b->seen_bytes = bytes = ORR_ATOMIC_LOAD_RELAXED(&b->bytes);
	b->seen_count = count = ORR_ATOMIC_LOAD_RELAXED(&b->count);
	b->seen_us = now;
	orr_unlock(&m->lock);
	if (!bus_info)
		return 0;
	memset(bus_info, 0, sizeof(*bus_info));
	bus_info->start_time = timespec_of(old.seen_us);
	bus_info->total_time = timespec_of(now - old.seen_us);
	bus_info->transferred_bytes = bytes - old.seen_bytes;
	bus_info->transfer_count = count - old.seen_count;
	return 0;
}

void starpu_profiling_bus_helper_display_summary(void)
{
	struct orr_notice n;

	orr_bus_print(orr_notice_open(&n));
	orr_notice_write(&n);
}

void orr_bus_print(FILE *f)
{
	ORR_PLAIN_NUMBERS;
	struct orr_process *proc = orr_self();
	double seconds = (orr_sys_now_us() - proc->start_us) * 1e-6, all_bytes = 0;
	unsigned long long all = 0;
	int id, n = starpu_bus_get_count();

	fprintf(f, "Data transfer statistics:\n");
	for (id = 0; id < n; id++) {
		char from[32], to[32];
		unsigned src, dst;
		uint64_t moved, count;

		if (!ends(id, &src, &dst))
			continue;
		orr_bus_counts(proc, src, dst, &moved, &count);
		if (!count)
			continue;
		double bytes = (double) moved;
		starpu_memory_node_get_name(src, from, sizeof(from));
		starpu_memory_node_get_name(dst, to, sizeof(to));
		fprintf(f,
			"\t%-10s -> %-10s %12.3f MB %10llu transfers, %10.3f kB each, %10.3f MB/s\n",
			from, to, bytes / 1e6, (unsigned long long) count,
			bytes / 1e3 / (double) count, seconds > 0 ? bytes / 1e6 / seconds : 0);
		all_bytes += bytes;
		all += count;
	}
	fprintf(f, "\tall %34.3f MB %10llu transfers\n", all_bytes / 1e6, all);
}
