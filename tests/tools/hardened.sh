#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What is installed was built with what distributions use: addresses are resolved at the start and read-only from
# then on, programs are at any address, no page is writable and executable, no code is changed by the loader, stacks
# are protected, calls of the C library that write strings and files are the checked ones. Of these, what configure
# did not find, or left to the user's flags, is not asked for. Programs that are built with the same run in both
# worlds: they jump out of functions that waited, on stacks that the simulator changes.
# orr-test: timeout 60
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
command -v readelf > /dev/null || skip "there is no readelf"
cd "$ORR_TEST_BUILDDIR" || die "no build tree"
flags=${ORR_TEST_HARDENED-}
asked() { case " $flags " in *" $1 "*) ;; *) return 1 ;; esac; }
list=$ORR_TEST_TMP/list

libraries= programs=
for f in .libs/liborrery*.so; do if [ -e "$f" ]; then libraries="$libraries $f"; fi; done
# A program that needs the libraries of the build tree has a script in its place.
for f in orrery-sim-launcher orrery-elastic orrery-calibrate-node orrery-calibrate-mpi orrery-calibrate-dyn \
	starpu_machine_display starpu_sched_display starpu_perfmodel_display; do
	for place in .libs/$f $f; do
		if [ -e $place ] && readelf -h $place > /dev/null 2>&1; then programs="$programs $place"; break; fi
	done
done
[ -n "$programs" ] || die "no program was found"
pie=no
if echo 'int main(void) { return 0; }' > "$ORR_TEST_TMP/empty.c" && $CC "$ORR_TEST_TMP/empty.c" -o "$ORR_TEST_TMP/empty" 2> /dev/null &&
	readelf -h "$ORR_TEST_TMP/empty" | grep -q 'Type:.*DYN'; then pie=yes; fi

for f in $libraries $programs; do
	readelf -W -d -l -h --dyn-syms "$f" > "$list" 2> /dev/null || die "$f: readelf cannot read it"
	grep -q 'GNU_STACK' "$list" || die "$f: asks for an executable stack"
	if grep -E '^ *(LOAD|GNU_STACK) .* RWE ' "$list"; then die "$f: a segment is writable and executable"; fi
	if grep 'TEXTREL' "$list"; then die "$f: the loader changes its code"; fi
	case $f in *.so) ;; *) [ $pie = no ] || grep -q 'Type:.*DYN' "$list" || die "$f: has one address only" ;; esac
	if asked -Wl,-z,now; then
		grep -q 'GNU_RELRO' "$list" || die "$f: no RELRO"
		grep -E -q 'BIND_NOW|FLAGS_1.* NOW' "$list" || die "$f: addresses are resolved late"
	fi
	# The library that only names others has no code, and some programs no array.
	case $f in *-scope.so) continue ;; *_display) ;; *) ! asked -fstack-protector-strong || grep -q ' __stack_chk_fail' "$list" || die "$f: no protected stack" ;; esac
	if asked -D_FORTIFY_SOURCE=2; then grep -q ' __[a-z0-9]*printf_chk' "$list" || die "$f: no checked call of the C library"; fi
done
echo "hardened: $(echo $libraries $programs | wc -w) files; asked for: ${flags:-nothing}, PIE $pie"
[ -n "$(echo $flags)" ] || skip "configure chose none of the flags"

cd "$ORR_TEST_TMP" || die "no folder"
cat > jumps.c << 'END'
#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu.h>
#include <starpu_mpi.h>

static volatile int jumps;

static void __attribute__((noinline)) deep(jmp_buf *to, int n, int waits)
{
	char text[64];

	snprintf(text, sizeof(text), "%d", n);
	if (n)
		deep(to, n - 1, waits);
	else if (waits) {
		starpu_task_wait_for_all();
		MPI_Barrier(MPI_COMM_WORLD);
		poll(NULL, 0, 1);
	}
	if (!n) {
		jumps = jumps + 1;
		longjmp(*to, 1);
	}
	puts(text);
}

static void kernel(void *buffers[], void *arg)
{
	jmp_buf here;

	if (!setjmp(here))
		deep(&here, 5, 0);
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "jumps" };

int main(int argc, char **argv)
{
	static int value;
	jmp_buf here;
	starpu_data_handle_t h;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 1;
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	for (volatile int i = 0; i < 10; i++) {
		starpu_task_insert(&cl, STARPU_RW, h, 0);
		if (!setjmp(here))
			deep(&here, 20, 1);
	}
	starpu_data_unregister(h);
	starpu_mpi_shutdown();
	if (jumps != 20 || value != 10)
		return 1;
	puts("all jumps arrived");
	return 0;
}
END
hard="-O2 $flags"
if [ "$ORR_TEST_MPI" = yes ]; then
	# shellcheck disable=SC2086
	ok "$ORRERY" cc $hard -o jumps jumps.c
	nm -D jumps | grep -q __longjmp_chk || ! asked -D_FORTIFY_SOURCE=2 || die "the jump is not checked"
	ok env STARPU_NCPU=1 "$ORRERY" run -n 2 --oversubscribe ./jumps
	[ "$(grep -c 'all jumps arrived' out)" = 2 ] || die "real: $(cat out err)"
fi
if [ "$ORR_TEST_SIM" = yes ]; then
	# shellcheck disable=SC2086
	ok "$ORRERY" cc --sim $hard -o jumps.sim jumps.c
	for network in share smpi; do
		ok "$ORRERY" sim -n 4 --network $network ./jumps.sim
		[ "$(grep -c 'all jumps arrived' out)" = 4 ] || die "simulated: $(cat out err)"
	done
fi
