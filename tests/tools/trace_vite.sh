#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ViTE opens what `orrery trace` writes for it, without a warning: Paje's format, that of StarPU's names, and OTF2. It
# draws each kernel and each message of a small run.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
command -v vite > /dev/null || skip "no vite (Debian: vite)"
mkdir -m 700 runtime
export QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR="$PWD/runtime" LC_ALL=C

# opens FILE: ViTE draws it into picture.svg
opens() {
	ok timeout 60 vite "$1" -e picture.svg
	cat out err > said
	has said '^0 errors and 0 warnings were found during parsing'
	[ -s picture.svg ] || die "ViTE draws nothing of $1"
}

# draws KERNELS MESSAGES: how many boxes have another colour than the background and containers, and how many arrows there are
draws() {
	boxes=$(grep -o '<rect [^>]*fill="[^"]*"' picture.svg | grep -vc 'fill="rgb(128, 128, 150)"\|fill="rgb(0,0,153)"')
	arrows=$(grep -o '<polygon ' picture.svg | wc -l)
	[ "$boxes" = "$1" ] && [ "$arrows" = "$2" ] || die "ViTE draws $boxes kernels and $arrows messages, of $1 and $2"
}

tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps
all() {
	ok "$ORRERY" trace "$1" --paje -o run.paje
	opens run.paje
	[ -z "$2" ] || draws "$2" "$3"
	ok "$ORRERY" trace "$1" --starpu -o starpu
	opens starpu/paje.trace
	[ -z "$2" ] || draws "$2" "$3"
	if "${PYTHON:-python3}" -c 'import otf2' 2> /dev/null; then
		ok "$ORRERY" trace "$1" --otf2 -o archive
		opens archive/traces.otf2
		[ -z "$2" ] || draws "$2" "$3"
	fi
}
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
	all a 30 2
	ok "$ORRERY" sim -n 3 --trace m "$ORR_TEST_BUILDDIR/tests/mpi/trace_marks.sim"
	all m "" ""
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	all r "" ""
fi
