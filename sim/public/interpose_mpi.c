/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All functions of MPI that SMPI's header declares, as functions of the executable, which the
 * loader finds before SMPI's own: MPI_X() and PMPI_X() call SMPI's PMPI_X() between two calls of
 * ours (mpi.c). Those that interpose*.c defines for both interfaces take the place of the weak ones
 * here.
 *
 * One piece of code serves all of them. It knows no parameters: it keeps the registers that hold
 * them, and copies those on the stack.
 *
 * Invariant: no function has more than 22 parameters (6 in registers, where there are fewest, and
 * those that are copied), or one that is a floating-point number. */
#include <errno.h>
#include "launcher/interpose.h"

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

#if defined(__x86_64__)

/* %r11 holds the number of the function. */
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

#elif defined(__aarch64__)

/* w17 holds the number of the function. */
__asm__(".text\n"
	".p2align 4\n"
	".type orr_mpi_call, %function\n"
	"orr_mpi_call:\n"
	".cfi_startproc\n"
	"	stp x29, x30, [sp, #-96]!\n"
	".cfi_def_cfa_offset 96\n"
	".cfi_offset 29, -96\n"
	".cfi_offset 30, -88\n"
	"	mov x29, sp\n"
	".cfi_def_cfa_register 29\n"
	"	stp x0, x1, [x29, #16]\n"
	"	stp x2, x3, [x29, #32]\n"
	"	stp x4, x5, [x29, #48]\n"
	"	stp x6, x7, [x29, #64]\n"
	"	mov w0, w17\n"
	"	add x1, x29, #80\n"
	"	bl orr_mpi_begin\n"
	"	mov x9, x0\n"
	"	sub sp, sp, #128\n"
	"	add x10, x29, #96\n"
	"	mov x11, #0\n"
	"1:	ldr x12, [x10, x11, lsl #3]\n"
	"	str x12, [sp, x11, lsl #3]\n"
	"	add x11, x11, #1\n"
	"	cmp x11, #16\n"
	"	b.ne 1b\n"
	"	ldp x0, x1, [x29, #16]\n"
	"	ldp x2, x3, [x29, #32]\n"
	"	ldp x4, x5, [x29, #48]\n"
	"	ldp x6, x7, [x29, #64]\n"
	"	blr x9\n"
	"	str x0, [x29, #16]\n"
	"	str d0, [x29, #24]\n"
	"	ldr x0, [x29, #80]\n"
	"	bl orr_mpi_end\n"
	"	ldr x0, [x29, #16]\n"
	"	ldr d0, [x29, #24]\n"
	"	mov sp, x29\n"
	".cfi_def_cfa_register 31\n"
	"	ldp x29, x30, [sp], #96\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_restore 29\n"
	".cfi_restore 30\n"
	"	ret\n"
	".cfi_endproc\n"
	".size orr_mpi_call, .-orr_mpi_call\n");

#define THUNK(symbol, number) \
	__asm__(".weak " symbol "\n.type " symbol ", %function\n" symbol ":\n\tmov w17, #" #number \
		"\n\tb orr_mpi_call\n.size " symbol ", .-" symbol "\n");

#else
#error "write orr_mpi_call for this processor"
#endif

#define NAME(number, name) THUNK("MPI_" #name, number) THUNK("PMPI_" #name, number)
#include "sim/public/mpi_names.def"
