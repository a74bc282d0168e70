/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times of transfers, from the tables of a machine (see machine.h). */
#include "perf/machine.h"

#include <math.h>

static const struct orr_machine_end main_ram = { STARPU_CPU_RAM, 0 };

static int is_main(struct orr_machine_end e)
{
	return e.kind == STARPU_CPU_RAM && e.devid == 0;
}

static int is_disk(struct orr_machine_end e)
{
	return e.kind == STARPU_DISK_RAM;
}

/* The row of the tables that stands for a memory; -1: none. */
static int bus_row(const struct orr_machine *m, struct orr_machine_end e)
{
	unsigned id = (unsigned) e.devid;

	switch (e.kind) {
	case STARPU_CPU_RAM: return id < m->nnuma ? (int) id : 0;
	case STARPU_CUDA_RAM: return e.devid >= 0 && id < m->ncuda ? (int) (m->nnuma + id) : -1;
	case STARPU_OPENCL_RAM:
		return e.devid >= 0 && id < m->nopencl ? (int) (m->nnuma + m->ncuda + id) : -1;
	default: return -1;
	}
}

/* ---- disks ---- */

static double disk_us(const struct orr_machine *m)
{
	return m ? m->disk_us : NAN;
}

static double disk_mbs(const struct orr_machine *m, int writing)
{
	return m && m->disk_mbs[writing] > 0 ? m->disk_mbs[writing] : NAN;
}

static double disk_transfer_us(const struct orr_machine *m, int writing, size_t size)
{
	double us = disk_us(m), mbs = disk_mbs(m, writing);

	if (isnan(us))
		us = ORR_MACHINE_DISK_US;
	if (isnan(mbs))
		mbs = writing ? ORR_MACHINE_DISK_WRITE_MBS : ORR_MACHINE_DISK_READ_MBS;
	return us + (double) size / mbs;
}

/* ---- slaves ---- */

/* Assumed of the network to them, which nothing measures. */
#define SLAVE_MBS 4000.0
#define SLAVE_US 20.0

static int is_slave(struct orr_machine_end e)
{
	return e.kind == STARPU_MPI_MS_RAM;
}

static double slave_transfer_us(size_t size)
{
	return SLAVE_US + (double) size / SLAVE_MBS;
}

/* ---- all memories ---- */

double orr_machine_latency(const struct orr_machine *m, struct orr_machine_end src,
			   struct orr_machine_end dst)
{
	if (is_disk(src) || is_disk(dst))
		return is_main(src) || is_main(dst) ? disk_us(m) : NAN;
	if (!m || !m->latency)
		return NAN;

	int i = bus_row(m, src), j = bus_row(m, dst);

	return i < 0 || j < 0 ? NAN : m->latency[(unsigned) i * m->nmemnodes + (unsigned) j];
}

double orr_machine_bandwidth(const struct orr_machine *m, struct orr_machine_end src,
			     struct orr_machine_end dst)
{
	if (is_disk(src) || is_disk(dst))
		return is_main(src) || is_main(dst) ? disk_mbs(m, is_disk(dst)) : NAN;
	if (!m || !m->bandwidth)
		return NAN;

	int i = bus_row(m, src), j = bus_row(m, dst);

	/* Two memories that share a row: the table does not tell. */
	return i < 0 || j < 0 || i == j ? NAN
					: m->bandwidth[(unsigned) i * m->nmemnodes + (unsigned) j];
}

/* Between main memory and another memory that is no disk; 0 if they are the same. */
static double half_way_us(const struct orr_machine *m, struct orr_machine_end src,
			  struct orr_machine_end dst, size_t size)
{
	return is_main(src) && is_main(dst) ? 0 : orr_machine_transfer_us(m, src, dst, size);
}

double orr_machine_transfer_us(const struct orr_machine *m, struct orr_machine_end src,
			       struct orr_machine_end dst, size_t size)
{
	if (is_disk(src))
		return disk_transfer_us(m, 0, size) + half_way_us(m, main_ram, dst, size);
	if (is_disk(dst))
		return half_way_us(m, src, main_ram, size) + disk_transfer_us(m, 1, size);
	if (is_slave(src) || is_slave(dst))
		return slave_transfer_us(size);
	return orr_machine_latency(m, src, dst) +
	       (double) size / orr_machine_bandwidth(m, src, dst);
}
