/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stacks of fibers, and the change from one to another (sim_fiber.h).
 *
 * Invariant: stated in sim_fiber.h. */
#include "actors/sim_fiber.h"

#include <stdlib.h>
#include <sys/mman.h>
#include "base/assert.h"

#define PAGE ((size_t) 4096)

struct orr_sim_fiber *orr_sim_fiber_unused;

/* The fiber that began last. */
static struct orr_sim_fiber *beginning;

/* Stores the stack pointer of the caller in *from and goes on where `to` was stored. What the
 * calling convention lets a function keep is on the stacks. */
void orr_sim_fiber_swap(void **from, void *to) __attribute__((visibility("hidden")));
#ifndef __x86_64__
#error "write orr_sim_fiber_swap() for this processor (doc/leaning.md)"
#endif
__asm__(".text\n"
	".p2align 4\n"
	".globl orr_sim_fiber_swap\n"
	".hidden orr_sim_fiber_swap\n"
	".type orr_sim_fiber_swap, @function\n"
	"orr_sim_fiber_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size orr_sim_fiber_swap, .-orr_sim_fiber_swap\n");

/* The bottom of a fiber's stack: one function after the other. */
static void run(void)
{
	struct orr_sim_fiber *f = beginning;
	for (;;) {
		f->f(f->buffers, f->arg);
		f->over = 1;
		orr_sim_fiber_swap(&f->own, f->other);
	}
}

/* The words that orr_sim_fiber_swap() finds on a stack that begins: six registers, the address of
 * run(), and none to return to. */
static void prepare(struct orr_sim_fiber *f)
{
	void **top = (void **) (f->low + f->size);
	*--top = NULL;
	*--top = (void *) (uintptr_t) run;
	for (int i = 0; i < 6; i++)
		*--top = NULL;
	f->own = top;
}

struct orr_sim_fiber *orr_sim_fiber_make(size_t size)
{
	struct orr_sim_fiber *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	size = (size + PAGE - 1) / PAGE * PAGE;
	char *room = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (room == MAP_FAILED || mprotect(room, PAGE, PROT_NONE)) {
		if (room != MAP_FAILED)
			munmap(room, size + PAGE);
		free(f);
		return NULL;
	}
	f->low = (uintptr_t) room + PAGE;
	f->size = size;
	f->over = 1;
	prepare(f);
	f->next = orr_sim_fiber_unused;
	return orr_sim_fiber_unused = f;
}

void orr_sim_fiber_take(struct orr_sim_fiber *f)
{
	orr_assert(f == orr_sim_fiber_unused);
	orr_sim_fiber_unused = f->next;
}

void orr_sim_fiber_put(struct orr_sim_fiber *f)
{
	orr_assertf(f->over, "a fiber is given back before its function has ended");
	f->next = orr_sim_fiber_unused;
	orr_sim_fiber_unused = f;
}

void orr_sim_fiber_give_up(struct orr_sim_fiber *f)
{
	orr_assert(!f->over);
	prepare(f);
	f->over = 1;
}

static int go_on(struct orr_sim_fiber *f)
{
	orr_sim_fiber_swap(&f->other, f->own);
	return f->over;
}

int orr_sim_fiber_begin(struct orr_sim_fiber *f, void (*function)(void **, void *), void **buffers,
			void *arg)
{
	orr_assert(f->over);
	f->f = function;
	f->buffers = buffers;
	f->arg = arg;
	f->over = 0;
	beginning = f;
	return go_on(f);
}

int orr_sim_fiber_continue(struct orr_sim_fiber *f)
{
	orr_assert(!f->over);
	return go_on(f);
}

void orr_sim_fiber_leave(struct orr_sim_fiber *f)
{
	orr_assert(!f->over);
	orr_sim_fiber_swap(&f->own, f->other);
}
