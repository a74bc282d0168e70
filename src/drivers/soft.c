/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that need no hardware: their memory is host memory that is only reached through copies,
 * their kernels are C functions. The fake devices of a real run and the simulated ones are such;
 * how long things take is the world's business.
 *
 * Invariant: what a device's memory holds came through this file's copies, or is main memory,
 * mapped; a fresh buffer starts
 * with bytes that no program wrote, so that a copy that was forgotten shows. The end of a kernel
 * does not depend on which function computed it. (Tests of coherency execute this; an assertion
 * cannot tell one byte from another.) */
#include "drivers/soft.h"
#include "base/assert.h"
#include "base/codelet_fields.h"
#include "base/log.h"
#include "base/seam_kernel.h"
#include "base/seam_memory.h"
#include "core/task/kernel_run.h"
#include "core/task/task.h"
#include "core/worker/worker.h"
#include "data/data.h"
#include "drivers/delay.h"
#include "drivers/limit.h"

#include <errno.h>
#include <string.h>

#define GARBAGE 0xa5
#define GARBAGE_BYTES 4096 /* of the start of a buffer: enough to notice, little to pay */
#define LOWEST_FUNCTION \
	4096 /* programs mark codelets as executable with small numbers in place of functions */

static uintptr_t soft_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	void *p = orr_sys_mem_alloc(proc, size ? size : 1, 256);

	(void) flags;
	if (!p)
		return 0;
	orr_sys_device_alloc_charge(proc, memnode);
	if (orr_sys_has_payload(proc))
		memset(p, GARBAGE, size < GARBAGE_BYTES ? size : GARBAGE_BYTES);
	return (uintptr_t) p;
}

static void soft_release(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
			 int flags)
{
	(void) memnode;
	(void) flags;
	orr_sys_mem_free(proc, (void *) addr, size ? size : 1);
}

/* In a simulated run orr_sys_copy_end_us tells the time that copies take. */
static int copy_blocks(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		       const struct orr_delay_blocks *b, struct orr_copy_channel *chan)
{
	int out = proc->data->memnodes[dst_node]->kind == STARPU_CPU_RAM;

	if (starpu_asynchronous_copy_disabled() || starpu_asynchronous_cuda_copy_disabled())
		chan = NULL;
	return orr_delay_copy(proc, out ? src_node : dst_node, out, b, chan);
}

static int slow(const struct orr_process *proc)
{
	return proc->cfg->fake_copy_mbs > 0;
}

static int soft_copy(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		     uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		     struct orr_copy_channel *chan)
{
	struct orr_delay_blocks b = { .src = (char *) src + src_offset,
				      .dst = (char *) dst + dst_offset,
				      .size = size,
				      .count = 1 };

	if (slow(proc))
		return copy_blocks(proc, src_node, dst_node, &b, chan);
	return orr_ram_ops.copy(proc, src, src_offset, src_node, dst, dst_offset, dst_node, size,
				chan);
}

static int soft_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset,
		       unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
		       size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst,
		       struct orr_copy_channel *chan)
{
	struct orr_delay_blocks b = { .src = (char *) src + src_offset,
				      .dst = (char *) dst + dst_offset,
				      .size = blocksize,
				      .count = numblocks,
				      .ld_src = ld_src,
				      .ld_dst = ld_dst };

	if (slow(proc))
		return copy_blocks(proc, src_node, dst_node, &b, chan);
	return orr_ram_ops.copy2d(proc, src, src_offset, src_node, dst, dst_offset, dst_node,
				  blocksize, numblocks, ld_src, ld_dst, chan);
}

/* It is host memory after all. */
static uintptr_t soft_map(struct orr_process *proc, uintptr_t addr, size_t offset, unsigned memnode,
			  size_t size)
{
	(void) proc;
	(void) memnode;
	(void) size;
	return addr + offset;
}

/* As for the devices of CUDA that it stands for; only time passes. */
static int soft_pin(struct orr_process *proc, unsigned memnode, void *addr, size_t size)
{
	(void) addr;
	if (proc->data->memnodes[memnode]->kind != STARPU_CUDA_RAM)
		return -ENOSYS;
	orr_sys_pin_charge(proc, size);
	return 0;
}

#define MEMORY(CPU_FORMAT) \
	{ \
		.name = "device of host memory", .addressable = 0, .cpu_format = CPU_FORMAT, \
		.alloc = soft_alloc, .release = soft_release, .copy = soft_copy, \
		.copy2d = soft_copy2d, .stream = orr_memnode_stream_none, .test = orr_delay_test, \
		.wait = orr_delay_wait, .map = soft_map, .pin = soft_pin, \
		.unpin = orr_memnode_unpin_none, .exit = orr_delay_exit \
	}

static const struct orr_memnode_ops soft_memory = MEMORY(0), cpu_first_memory = MEMORY(1);

/* ---- the driver ---- */

typedef void (*kernel)(void **, void *);

static int prefer_cpu; /* its address marks workers on which a function for the CPU goes first */

static kernel own_function(enum starpu_worker_archtype arch, const struct starpu_codelet *cl,
			   unsigned i)
{
	kernel f = arch == STARPU_CUDA_WORKER ? cl->cuda_funcs[i] : cl->opencl_funcs[i];

	if (f || i)
		return f;
	if (arch == STARPU_CUDA_WORKER)
		return cl->cuda_func == STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS ? NULL : cl->cuda_func;
	return cl->opencl_func == STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS ? NULL : cl->opencl_func;
}

/* The task runs a function that is not for the CPU, but its data lie in the format of CPUs
 * (cpu_format): ends the program if there are multiformat data among them. */
static void check_format(struct orr_worker *w, struct orr_task *t)
{
	unsigned n = STARPU_TASK_GET_NBUFFERS(t->pub);

	if (!orr_sys_kernel_runs(w->group->proc, t->pub->cl))
		return;
	for (unsigned i = 0; i < n; i++)
		if (starpu_data_get_interface_id(STARPU_TASK_GET_HANDLE(t->pub, i)) ==
		    STARPU_MULTIFORMAT_INTERFACE_ID)
			orr_fatal(
				"task %s has multiformat data and no function for the CPU, but units of the simulated machine compute in the format of CPUs; give its codelet cpu_funcs, or simulate the device by ORRERY_FAKE_DEVICES",
				orr_task_name(t->pub));
}

static kernel function_of(struct orr_worker *w, struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;
	unsigned i = t->nimpl;
	int cpu_first = w->driver_arg == &prefer_cpu;
	kernel f = NULL;

	if (cpu_first)
		f = orr_codelet_cpu_func(cl, i) ? orr_codelet_cpu_func(cl, i)
						: orr_codelet_cpu_func(cl, 0);
	if (f)
		return (uintptr_t) f < LOWEST_FUNCTION ? NULL : f;
	f = own_function(w->arch, cl, i);
	if ((uintptr_t) f < LOWEST_FUNCTION)
		return NULL;
	if (cpu_first)
		check_format(w, t);
	return f;
}

static int soft_init(struct orr_worker *w)
{
	(void) w;
	return 0;
}

static void soft_deinit(struct orr_worker *w)
{
	(void) w;
}

static int asynchronous(const struct orr_worker *w, const struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;

	return w->arch == STARPU_CUDA_WORKER ? cl->cuda_flags[t->nimpl] & STARPU_CUDA_ASYNC
					     : cl->opencl_flags[t->nimpl] & STARPU_OPENCL_ASYNC;
}

static int soft_queues(struct orr_worker *w, struct orr_task *t)
{
	return orr_delay_queues(w, asynchronous(w, t));
}

static enum orr_started soft_start(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	orr_assert(orr_thread_self()->worker == w);
	return orr_delay_start(w, orr_worker_run(w, t, function_of(w, t)), asynchronous(w, t), l);
}

static void soft_finish(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	(void) l;
	orr_assert(orr_thread_self()->worker == w);
	(void) t;
	orr_sys_kernel_end(w->group->proc, &w->kernel);
}

#define DRIVER(ARCH, NAME) \
	{ \
		.name = NAME, .arch = ARCH, .init = soft_init, .deinit = soft_deinit, \
		.queues = soft_queues, .start = soft_start, .test = orr_delay_kernel_test, \
		.call = orr_driver_call_plain, .finish = soft_finish \
	}

static const struct orr_driver_ops cuda_driver = DRIVER(STARPU_CUDA_WORKER, "soft CUDA"),
				   opencl_driver = DRIVER(STARPU_OPENCL_WORKER, "soft OpenCL");

struct orr_device orr_soft_device(struct orr_process *proc, enum starpu_worker_archtype arch,
				  int devid, int cpu_first)
{
	int cuda = arch == STARPU_CUDA_WORKER;

	orr_assert(cuda || arch == STARPU_OPENCL_WORKER);
	return (struct orr_device){
		.arch = arch,
		.kind = cuda ? STARPU_CUDA_RAM : STARPU_OPENCL_RAM,
		.devid = devid,
		.nworkers = cuda ? (unsigned) proc->cfg->nworker_per_cuda : 1,
		.pipeline = (unsigned) (cuda ? proc->cfg->cuda_pipeline
					     : proc->cfg->opencl_pipeline),
		.memory = orr_limit_of_device(cuda ? "CUDA" : "OPENCL", devid,
					      cuda ? proc->cfg->limit_cuda_mem
						   : proc->cfg->limit_opencl_mem),
		.memory_arg = orr_delay_new(proc),
		.memory_ops = cpu_first ? &cpu_first_memory : &soft_memory,
		.driver = cuda ? &cuda_driver : &opencl_driver,
		.driver_arg = cpu_first ? &prefer_cpu : NULL,
	};
}
