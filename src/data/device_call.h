/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of codelets that are called outside of tasks: conversions of multiformat data, and
 * initial values.
 *
 * Invariant: when the call returns, what the function gave to a device is over. */
#ifndef ORR_DATA_DEVICE_CALL_H
#define ORR_DATA_DEVICE_CALL_H

#include "base/process.h"

/* [waits] Calls f, a function of codelet cl for the units of that memory node, for datum h; f NULL:
 * only its time passes. Returns the time that it takes from now on, in a simulated run. Any thread,
 * without locks. */
double orr_device_call_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*f)(void **, void *), void **buffers,
			  void *arg);

#endif
