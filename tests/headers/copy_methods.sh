#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A program in C++ that lists all methods of struct starpu_data_copy_methods, by name in the order
# of their declaration, or by place, compiles; so do lists in C of the names of older programs.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

one='ram_to_ram ram_to_cuda ram_to_hip ram_to_opencl ram_to_max_fpga cuda_to_ram cuda_to_cuda hip_to_ram
hip_to_hip opencl_to_ram opencl_to_opencl max_fpga_to_ram'
async='ram_to_cuda cuda_to_ram cuda_to_cuda ram_to_hip hip_to_ram hip_to_hip ram_to_opencl opencl_to_ram
opencl_to_opencl ram_to_max_fpga max_fpga_to_ram'
older='ram_to_mpi_ms mpi_ms_to_ram mpi_ms_to_mpi_ms ram_to_tcpip_ms tcpip_ms_to_ram tcpip_ms_to_tcpip_ms'
names="can_copy $one"
for m in $async; do names="$names ${m}_async"; done
names="$names any_to_any"

# listed NAME...: an initialiser of each.
listed() {
	for m; do printf '\t.%s = %s,\n' "$m" "$none"; done
}

# compile FILE STANDARD
compile() {
	ok "$ORRERY" cc "-std=$2" -Wall -Wextra -Wno-missing-field-initializers -Werror -fsyntax-only "$1"
	[ "$ORR_TEST_SIM" = yes ] || return 0
	ok "$ORRERY" cc --sim "-std=$2" -Wall -Wextra -Wno-missing-field-initializers -Werror -fsyntax-only "$1"
}

none=NULL
{
	printf '#include <starpu.h>\nconst struct starpu_data_copy_methods methods = {\n'
	# shellcheck disable=SC2086
	listed $names $older
	for m in $older; do listed "${m}_async"; done
	printf '};\n'
} > all.c
compile all.c c11

CXX=${CXX-g++}
command -v "${CXX%% *}" > /dev/null || skip "C++ needs a compiler"
echo 'struct { int x; } y = { .x = 1 };' | $CXX -std=c++20 -fsyntax-only -x c++ - 2> /dev/null || skip "C++ needs C++20"
none=nullptr
{
	printf '#include <starpu.h>\n#include <cstddef>\n'
	printf 'extern const struct starpu_data_copy_methods methods, places;\n'
	printf 'const struct starpu_data_copy_methods methods = {\n'
	# shellcheck disable=SC2086
	listed $names
	printf '};\nstatic int any(void *, unsigned, void *, unsigned, void *) { return 0; }\n'
	printf 'const struct starpu_data_copy_methods places = {\n'
	for m in $names; do [ "$m" = any_to_any ] || printf '\tnullptr,\n'; done
	printf '\tany,\n'
	for m in $older $older; do printf '\tnullptr,\n'; done
	printf '};\n'
} > all.cc
compile all.cc c++20
exit 0
