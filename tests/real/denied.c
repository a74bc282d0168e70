/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A system call that a sandbox forbids ends in a message, and not in a loop: which processors the
 * process may use. The filter is the kernel's (seccomp); it is for this process, which ends soon.
 * orr-test: timeout 60
 * orr-test: expect sched_getaffinity\(2\): .*sandbox */
#include <starpu.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/test.h"

static int deny(unsigned call, unsigned err)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(steps) / sizeof(*steps), steps };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	if (deny(SYS_sched_getaffinity, EPERM)) {
		fprintf(stderr, "SKIP: no filters of system calls here\n");
		return 77;
	}
	CHECK(starpu_init(NULL) == -EPERM);
	CHECK(!starpu_is_initialized());
	return 0;
}
