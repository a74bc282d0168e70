/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All functions of MPI that SMPI's header declares, as functions of the executable, which the
 * loader finds before SMPI's own: MPI_X() and PMPI_X() call SMPI's PMPI_X() between two calls of
 * ours (mpi.c). Those that interpose*.c defines for both interfaces take the place of the weak ones
 * here.
 *
 * One piece of code serves all of them. It knows no parameters: it keeps the registers that hold
 * them, and copies those on the stack.
 *
 * Invariant: no function has more than 6 + STACKED parameters, or one that is a floating-point
 * number. */
#include <errno.h>
#include "launcher/interpose.h"

#ifndef __x86_64__
#error "write orr_mpi_call for this processor"
#endif

#define NAME(number, name) [number] = "PMPI_" #name,
static const char *const names[] = {
#include "sim/public/mpi_names.def"
};
#undef NAME

static void *functions[sizeof(names) / sizeof(*names)];

/* Called by the code below. */
void *orr_mpi_begin(unsigned number, void **who) __attribute__((used, visibility("hidden")));
void orr_mpi_end(void *who) __attribute__((used, visibility("hidden")));

void *orr_mpi_begin(unsigned number, void **who)
{
	int error = errno;
	void *instead = (*interpose_calls->orrery_sim_mpi_begin_)(names[number] + 1, who);
	if (!functions[number])
		functions[number] = interpose_simgrid(names[number]);
	errno = error;
	return instead ? instead : functions[number];
}

void orr_mpi_end(void *who)
{
	(*interpose_calls->orrery_sim_mpi_end_)(who);
}

/* STACKED is 16. %r11 holds the number of the function. */
__asm__(".text\n"
	".p2align 4\n"
	".type orr_mpi_call, @function\n"
	"orr_mpi_call:\n"
	".cfi_startproc\n"
	"	pushq %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"	movq %rsp, %rbp\n"
	".cfi_def_cfa_register 6\n"
	"	subq $64, %rsp\n"
	"	movq %rdi, -16(%rbp)\n"
	"	movq %rsi, -24(%rbp)\n"
	"	movq %rdx, -32(%rbp)\n"
	"	movq %rcx, -40(%rbp)\n"
	"	movq %r8, -48(%rbp)\n"
	"	movq %r9, -56(%rbp)\n"
	"	movl %r11d, %edi\n"
	"	leaq -8(%rbp), %rsi\n"
	"	call orr_mpi_begin\n"
	"	movq %rax, %r11\n"
	"	subq $128, %rsp\n"
	"	xorl %ecx, %ecx\n"
	"1:	movq 16(%rbp,%rcx,8), %rax\n"
	"	movq %rax, (%rsp,%rcx,8)\n"
	"	incl %ecx\n"
	"	cmpl $16, %ecx\n"
	"	jne 1b\n"
	"	movq -16(%rbp), %rdi\n"
	"	movq -24(%rbp), %rsi\n"
	"	movq -32(%rbp), %rdx\n"
	"	movq -40(%rbp), %rcx\n"
	"	movq -48(%rbp), %r8\n"
	"	movq -56(%rbp), %r9\n"
	"	xorl %eax, %eax\n"
	"	call *%r11\n"
	"	movq %rax, -16(%rbp)\n"
	"	movsd %xmm0, -24(%rbp)\n"
	"	movq -8(%rbp), %rdi\n"
	"	call orr_mpi_end\n"
	"	movq -16(%rbp), %rax\n"
	"	movsd -24(%rbp), %xmm0\n"
	"	leave\n"
	".cfi_def_cfa 7, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size orr_mpi_call, .-orr_mpi_call\n");

#define THUNK(symbol, number) \
	__asm__(".weak " symbol "\n.type " symbol ", @function\n" symbol ":\n\tmovl $" #number \
		", %r11d\n\tjmp orr_mpi_call\n.size " symbol ", .-" symbol "\n");
#define NAME(number, name) THUNK("MPI_" #name, number) THUNK("PMPI_" #name, number)
#include "sim/public/mpi_names.def"
