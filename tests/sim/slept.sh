#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A kernel without a model that sleeps takes that time. The summary and the report say so of it, and call
# uncalibrated only kernels that got a default.
# orr-test: world sim
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
cat > slept.c << 'END'
#include <starpu.h>
#include <unistd.h>
static void sleeps(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	usleep(3000);
}
static void computes(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
static char data[4000000];
int main(int argc, char **argv)
{
	struct starpu_codelet cl[2] = { { .cpu_funcs = { sleeps }, .name = "sleeper" },
					{ .cpu_funcs = { computes }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "worker" } };
	starpu_data_handle_t h;
	(void) argv;
	if (starpu_init(NULL))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) data, sizeof(data), 1);
	for (int i = 0; i < 2; i++)
		if (starpu_task_insert(&cl[0], 0))
			return 1;
	if (argc > 1 && starpu_task_insert(&cl[1], STARPU_RW, h, 0))
		return 1;
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
END
ok "$ORRERY" cc --sim slept.c -o slept.sim
ok timeout 60 "$ORRERY" sim -n 1 --report run.json slept.sim
has err '100 % of the simulated kernel time is what kernels without a model slept, .*: sleeper'
! grep -q uncalibrated: err && ! grep -q 'is uncalibrated' err || die "a sleeper is called uncalibrated: $(cat err)"
has run.json '"slept": \{"sleeper": 0.006000000\}'
has run.json '"uncalibrated_fraction": 0.000000'
ok timeout 60 "$ORRERY" sim -n 1 --report run.json slept.sim both
has err 'slept, .*: sleeper'
has err 'is uncalibrated: worker'
has run.json '"slept": \{"sleeper": 0.006000000\}'
has run.json '"uncalibrated": \{"worker": 0.00[0-9]*\}'
exit 0
