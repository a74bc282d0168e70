/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Datagrams beside MPI (contract: base/seam_datagram.h): a simulated run has none. No link of it is
 * cut, no rank of it stops while others go on (`orrery sim --fail` ends the whole run), so that
 * nobody has to look for that, and no virtual time passes for it.
 *
 * Invariant: nobody calls what needs datagrams that are open. */
#include <errno.h>
#include "base/assert.h"
#include "base/process.h"
#include "base/seam_datagram.h"

int orr_sys_datagrams_open(struct orr_process *proc, double *limit_us)
{
	(void) proc;
	return *limit_us < 0 ? -EINVAL : 0;
}

void orr_sys_datagrams_close(struct orr_process *proc)
{
	(void) proc;
	orr_assertf(0, "a simulated run has no datagrams");
}

void orr_sys_datagram_send(struct orr_process *proc, int rank, const void *bytes, size_t n)
{
	(void) rank;
	(void) bytes;
	(void) n;
	orr_sys_datagrams_close(proc);
}

size_t orr_sys_datagram_receive(struct orr_process *proc, double timeout_us,
				char bytes[ORR_DATAGRAM_MAX], int *from)
{
	(void) timeout_us;
	(void) bytes;
	(void) from;
	orr_sys_datagrams_close(proc);
	return 0;
}

void orr_sys_datagrams_wake(struct orr_process *proc)
{
	orr_sys_datagrams_close(proc);
}

int orr_sys_datagram_host(struct orr_process *proc, int rank)
{
	orr_sys_datagrams_close(proc);
	return rank;
}

const char *orr_sys_datagram_host_name(struct orr_process *proc, int rank)
{
	(void) rank;
	orr_sys_datagrams_close(proc);
	return "";
}

int orr_sys_datagram_held(struct orr_process *proc, int rank)
{
	(void) rank;
	orr_sys_datagrams_close(proc);
	return 0;
}

void orr_sys_end_surely(struct orr_process *proc, double us, int cut_off)
{
	(void) us;
	(void) cut_off;
	orr_sys_datagrams_close(proc);
}
