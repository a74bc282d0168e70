/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seam between the runtime and its world (base/seam.h, which explains the tags), the part of
 * memory: blocks of main memory, payloads, copies, and devices with memories of their own.
 *
 * Invariant: a block is freed by the function beside the one that gave it, with the same size. */
#ifndef ORR_BASE_SEAM_MEMORY_H
#define ORR_BASE_SEAM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct orr_process;
struct orr_copy;
struct orr_world_device;

/* ---- memory and copies ---- */
/* [any] [locked] Buffers of main memory that only kernels and transfers touch. In a simulated run
 * that skips kernels no payload is stored. The result is aligned to `align` bytes (a power of two,
 * >= 64). NULL when memory is exhausted. */
void *orr_sys_mem_alloc(struct orr_process *proc, size_t size, size_t align);
/* [any] [locked] Frees one. size as given to orr_sys_mem_alloc; ptr may be NULL. */
void orr_sys_mem_free(struct orr_process *proc, void *ptr, size_t size);
/* [any] [locked] The program has limited its memory: from now on, until the runtime stops, freed
 * blocks make room at once, instead of being kept for the next one of their size. */
void orr_sys_mem_keep_none(struct orr_process *proc);
/* [any] [locked] The bytes of a page, a power of two of 4096 at least: those of the system; in a
 * simulated run, those of the computers that are simulated, so that no result depends on the one
 * that simulates them. */
size_t orr_sys_page(void);
/* [any] [locked] Has the pages of a block (whole pages) lie on NUMA node `numa` of proc->topo,
 * beside the devices (ORR_NUMA_OF_DEVICES) if orr_sys_units_beside found all of them beside the
 * same memory, or anywhere again (ORR_NUMA_ANY). Where that is not possible nothing happens: it
 * only costs speed. */
enum { ORR_NUMA_ANY = -1, ORR_NUMA_OF_DEVICES = -2 };
void orr_sys_mem_bind(struct orr_process *proc, void *ptr, size_t size, int numa);
/* [any] [locked] Memory that the program itself touches (starpu_malloc): zero-cost folded memory
 * when kernels are skipped. */
void *orr_sys_user_alloc(struct orr_process *proc, size_t size, size_t align);
void orr_sys_user_free(struct orr_process *proc, void *ptr, size_t size);
/* [any] [locked] Memory for many small objects of the runtime itself (base/slab.h): `bytes`, a
 * multiple of 64, aligned to 64. NULL when memory is exhausted. */
void *orr_sys_chunk_alloc(size_t bytes);
void orr_sys_chunk_free(void *chunk, size_t bytes);
/* [any] [locked] Whether payloads exist at all: 0 when kernels are skipped in a simulated run.
 * Callers then copy, pack and compare nothing. */
int orr_sys_has_payload(struct orr_process *proc);
/* [any] [locked] memcpy of a payload between two buffers of main memory (nothing when payloads do
 * not exist). */
void orr_sys_memcpy(struct orr_process *proc, void *dst, const void *src, size_t size);
/* [any] Cost in virtual time of a copy that starts now: the instant at which it is over, as far as
 * is known; a value not after now means that it is over already (always so in a real run, where the
 * copy itself took the time). *number is not 0 if copies that start later may delay it: then
 * _copy_end_us tells at that instant whether it is over, and else until when to wait. Who does not
 * wait for it need not ask. */
double orr_sys_copy_start(struct orr_process *proc, const struct orr_copy *c, uint64_t *number);
double orr_sys_copy_end_us(struct orr_process *proc, uint64_t number);

/* ---- devices ---- */
/* [main] Fills v with at most max devices that this world adds to those that drivers find: those of
 * the simulated machine, CUDA before OpenCL; a real run has none. At most ncuda and nopencl of
 * these kinds (negative: as many as there are). Sets proc->stand_in and proc->machine. The number
 * of devices, or -errno after a message. */
int orr_sys_devices(struct orr_process *proc, struct orr_world_device *v, unsigned max, long ncuda,
		    long nopencl);
/* [main] Whether drivers may use the devices of this machine: not in a simulated run. */
int orr_sys_drives_devices(void);
/* [any] [locked] A buffer was allocated on a device made of host memory: in a simulated run copies
 * to it wait for as long as that takes. */
void orr_sys_device_alloc_charge(struct orr_process *proc, unsigned memnode);
/* [any] [locked] Main memory was pinned for a device made of host memory: in a simulated run the
 * calling thread is charged the time that this takes. */
void orr_sys_pin_charge(struct orr_process *proc, size_t size);

#endif
