/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stacks of fibers, and the change from one to another (sim_fiber.h).
 *
 * Invariant: stated in sim_fiber.h. */
#include "actors/sim_fiber.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/assert.h"

struct orr_sim_fiber *orr_sim_fiber_unused;

/* The fiber that began last. */
static struct orr_sim_fiber *beginning;

/* Stores the stack pointer of the caller in *from and goes on where `to` was stored. What the
 * calling convention lets a function keep is on the stacks. */
void orr_sim_fiber_swap(void **from, void *to) __attribute__((visibility("hidden")));

#define FUNCTION(name) \
	".text\n" \
	".p2align 4\n" \
	".globl " name "\n" \
	".hidden " name "\n" \
	".type " name ", %function\n" name ":\n"
#define END(name) ".size " name ", .-" name "\n"

#if defined(__x86_64__)

__asm__(FUNCTION("orr_sim_fiber_swap") /* */
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
	"	ret\n" END("orr_sim_fiber_swap"));

/* The words that orr_sim_fiber_swap() finds on a stack that begins: six registers, the address of
 * the first function, and none to return to. */
static void **first_words(void **top, void (*first)(void))
{
	*--top = NULL;
	*--top = (void *) (uintptr_t) first;
	for (int i = 0; i < 6; i++)
		*--top = NULL;
	return top;
}

#elif defined(__aarch64__)

#define WORDS 20 /* x19 to x30, d8 to d15 */

__asm__(FUNCTION("orr_sim_fiber_swap") /* */
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n" END("orr_sim_fiber_swap"));

/* The bottom of a stack: calls what x19 holds, with nothing to return to. */
void orr_sim_fiber_bottom(void) __attribute__((visibility("hidden")));
__asm__(FUNCTION("orr_sim_fiber_bottom") /* */
	"	mov x29, xzr\n"
	"	mov x30, xzr\n"
	"	mov x16, x19\n"
	"	br x16\n" END("orr_sim_fiber_bottom"));

/* The words that orr_sim_fiber_swap() finds on a stack that begins. */
static void **first_words(void **top, void (*first)(void))
{
	top -= WORDS;
	for (int i = 0; i < WORDS; i++)
		top[i] = NULL;
	top[0] = (void *) (uintptr_t) first;                 /* x19 */
	top[11] = (void *) (uintptr_t) orr_sim_fiber_bottom; /* x30 */
	return top;
}

#else
#error "write orr_sim_fiber_swap() for this processor (doc/leaning.md)"
#endif

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

static void prepare(struct orr_sim_fiber *f)
{
	f->own = first_words((void **) (f->low + f->size), run);
}

struct orr_sim_fiber *orr_sim_fiber_make(size_t size)
{
	struct orr_sim_fiber *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	size = (size + page - 1) / page * page;
	char *room = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (room == MAP_FAILED || mprotect(room, page, PROT_NONE)) {
		if (room != MAP_FAILED)
			munmap(room, size + page);
		free(f);
		return NULL;
	}
	f->low = (uintptr_t) room + page;
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
