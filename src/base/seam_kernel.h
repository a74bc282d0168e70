/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seam between the runtime and its world (base/seam.h, which explains the tags), the part of
 * kernels: they run, are skipped, or only take their time.
 *
 * Invariant: each kernel that ends later gets one orr_sys_kernel_end. */
#ifndef ORR_BASE_SEAM_KERNEL_H
#define ORR_BASE_SEAM_KERNEL_H

struct orr_process;
struct orr_thread;
struct orr_kernel; /* base/world.h */
struct starpu_codelet;
struct _starpu_data_state;

/* [worker] Starts func(buffers, cl_arg) as kernel k; NULL: its functions are called elsewhere, or
 * nowhere. Returns 0 when the kernel has run to its end, or 1 when it ends later: k->end_us is
 * when, or INFINITY while func waits (orr_core_upcalls.ends); orr_sys_kernel_end is called then.
 * Runs the kernel, skips it, or injects its measured time, as the run asks. While models are
 * calibrated on cores that other threads want too, k->own_us tells what the kernel took without the
 * turns of those; else it is 0, and the time from the task's start to its end counts. In a
 * simulated run, the debt of the calling thread comes before the kernel. func may wait. */
int orr_sys_kernel_start(struct orr_process *proc, struct orr_kernel *k,
			 void (*func)(void **, void *), void **buffers, void *cl_arg);
/* [worker] Spends the debt of the calling thread after a kernel that ends later: it ends so much
 * later still. */
void orr_sys_kernel_settle(struct orr_thread *self, struct orr_kernel *k);
/* [any] Does this world call the functions of the codelet (NULL: of none)? For kernels that are
 * called elsewhere than in orr_sys_kernel_start, which then only tells the time. */
int orr_sys_kernel_runs(struct orr_process *proc, const struct starpu_codelet *cl);
/* [worker] [waits] Called once when the kernel is over. */
void orr_sys_kernel_end(struct orr_process *proc, struct orr_kernel *k);
/* [any] A kernel that is no task's makes the value of h on memory node memnode: it converts
 * multiformat data that a copy brought there, or gives data their initial value. Calls
 * func(buffers, arg), a function of codelet cl for that kind of memory, or not, as the run asks;
 * func is NULL where only time passes, and may wait. Returns how many microseconds more the data
 * then take to be usable, 0 in a real run. */
double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers,
			  void *arg);

#endif
