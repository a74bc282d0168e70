#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Lists the sources of each folder in that folder's sources.mk, which the
# fragments local.mk include: Automake cannot glob, and this way nobody edits a
# list by hand. Run from anywhere; autoreconf runs it (configure.ac).
#
# Invariant: the output depends on nothing but the set of files in the tree, and
# an unchanged list keeps its time stamp, so that nothing is rebuilt for it.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

# put FILE: replaces FILE by standard input when they differ.
put() {
	cat > "$1.tmp"
	if cmp -s "$1.tmp" "$1"; then rm -f "$1.tmp"; else mv -f "$1.tmp" "$1"; fi
}

# files DIR FIND-EXPRESSION...: sorted paths, without editors' leftovers and
# without what a build in the source tree leaves.
files() {
	dir=$1
	shift
	[ -d "$dir" ] || return 0
	find "$dir" -type f ! -name '.*' ! -name '*~' ! -name '*.tmp' ! -name '#*' \
		! -path '*/__pycache__/*' ! -path '*/.*' ! -path 'tests/tmp/*' ! -path 'fuzz/clang/*' \
		! -name '*.o' ! -name '*.lo' ! -name '*.sim' ! -name '*.log' ! -name '*.trs' "$@" | sort
}

# list NAME: a make variable made of the lines of standard input.
list() {
	printf '%s =' "$1"
	while read -r f; do printf ' \\\n\t%s' "$f"; done
	printf '\n'
}

canon() { printf '%s' "$1" | tr -c 'A-Za-z0-9' '_'; }
c_or_h() { files "$@" \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' \); }
head_line='# Made by build-aux/sources.sh from the files of this folder; do not edit.'

# Files of the simulated world that use private names of SimGrid; sim/public has others for them.
private_names='sim/launcher/\(background\|early\|equal\|flat\|guard\|loads\|messages\|world\)\.\(cpp\)\|sim/launcher/messages\.h\|sim/sys/actors/sim_\(glue\.cpp\|turns\.c\)\|sim/sys/net/sim_flow_glue\.cpp'

library_lists() {
	for d in base core data sched perf trace start fortran mpi dyn; do
		mkdir -p src/$d
		{
			echo "$head_line"
			c_or_h src/$d | grep -v '_none\.c$' | grep -v '^src/base/mpi[^/]*\.c$' | list orr_src_$d
			if [ $d = base ]; then c_or_h src/base | grep '/mpi[^/]*\.c$' | list orr_src_base_mpi; fi
		} | put src/$d/sources.mk
	done
	{
		echo "$head_line"
		c_or_h src/drivers | grep -v '/opencl[^/]*\.c$\|/cuda_[^/]*\.c$' | list orr_src_drivers
		c_or_h src/drivers | grep '/cuda_[^/]*\.c$' | grep -v '/cuda_none\.c$' | list orr_src_drivers_cuda
		c_or_h src/drivers | grep '/opencl[^/]*\.c$' | grep -v '/opencl_none\.c$' | list orr_src_drivers_opencl
	} | put src/drivers/sources.mk
	for d in sys bridge; do
		{
			echo "$head_line"
			c_or_h src/$d | grep -v '/mpi[^/]*\.c$\|/dyn_' | list orr_src_$d
			{ c_or_h src/$d | grep '/dyn_' || :; } | list orr_src_${d}_dyn
			{ c_or_h src/$d | grep '/mpi[^/]*\.c$' | grep -v '/mpi_ucx' || :; } | list orr_src_${d}_mpi
		} | put src/$d/sources.mk
	done
	{
		echo "$head_line"
		c_or_h sim ! -path 'sim/launcher/interpose*.c' ! -path 'sim/include/*' ! -path 'sim/start/*' ! -path 'sim/public/*' |
			grep -v -x -e "$private_names" | list orr_sim
		c_or_h sim | grep -x -e "$private_names" | list orr_sim_private
		c_or_h sim/public ! -name 'interpose*.c' | list orr_sim_public
	} | put sim/sources.mk
	{
		echo "$head_line"
		files include -maxdepth 1 -name '*.h' | grep -v '^include/starpu_config\.h$' | list orr_headers
		files include/schedulers -name '*.h' | list orr_sched_headers
	} | put include/sources.mk
}

# example_block NAME: the program of examples/NAME in both worlds, with the files of other folders that
# its file `sources` lists; with process sets if it is named elastic* or follows them.
example_block() {
	p=examples/$1/$1
	v=$(canon "$p")
	libs=CUDA_EXAMPLE_LIBS
	# Only these call cuBLAS and cuSOLVER. (libtool moves --as-needed behind the libraries.)
	if grep -q 'matrix_cuda\.h' examples/"$1"/*; then libs=CUDA_MATRIX_LIBS; fi
	elastic=
	case $1 in elastic*) elastic=elastic_ ;; esac
	if grep -q 'elastic_begin(' examples/"$1"/*.c; then elastic=elastic_; fi
	echo "orr_examples += $p"
	echo "orr_example_sims += $p.sim"
	{ c_or_h "examples/$1"; [ ! -e "examples/$1/sources" ] || cat "examples/$1/sources"; } | list "${v}_SOURCES"
	echo "${v}_CPPFLAGS = \$(orr_example_${elastic}cppflags)"
	echo "${v}_LDADD = \$(orr_example_${elastic}ldadd)"
	files "examples/$1" -name '*.cu' | while read -r cu; do
		echo "if ORR_NVCC"
		echo "orr_example_cu += $cu.o"
		echo "${v}_LDADD += $cu.o \$($libs)"
		echo "endif"
	done
	echo "$p.sim: \$(${v}_SOURCES) \$(orr_example_headers) \$(orr_headers_dep) | \$(orr_sim_order)"
	echo "	\$(orr_sim_link) \$(orr_example_${elastic}simflags) \$(filter %.c,\$^) \$(orr_example_simlibs)"
}

example_list() {
	echo "$head_line"
	for d in examples/*/; do
		[ -d "$d" ] || continue
		name=$(basename "$d")
		[ -z "$(files "examples/$name" -name '*.c')" ] || example_block "$name"
	done
	files examples -maxdepth 1 -name '*.h' | list orr_example_headers
	files examples ! -name '*.c' ! -name '*.h' ! -name '*.mk' ! -perm -u=x | list orr_example_extra
}

# is_test FILE: false for programs that a script drives, of the same name, or as a directive says.
# (One grep for all of them: configure.ac is read, and runs this, fourteen times while it is prepared.)
driven=" $(echo $(grep -l 'orr-test: driven by ' tests/*/*.c)) "
is_test() {
	case $driven in *" $1 "*) return 1 ;; esac
	[ ! -e "${1%.c}.sh" ]
}

test_block() {
	f=$1
	case $f in
	tests/core/*|tests/data/*) kind=core worlds=both ;;
	tests/unit/*) kind=unit worlds=real ;;
	tests/real/*) kind=mpi worlds=real ;;
	tests/cuda/*) kind=cuda worlds=real ;;
	tests/sim/*) kind=none worlds=sim ;;
	tests/elastic/*) kind=elastic worlds=both ;;
	*) kind=mpi worlds=both ;;
	esac
	# Kernels that nvcc compiles are for GPUs, not for the stub.
	if [ -e "${f%.c}.cu" ]; then
		echo "orr_gpu_test_programs += ${f%.c}"
	elif [ $worlds != sim ]; then
		echo "orr_${kind}_test_programs += ${f%.c}"
		if is_test "$f"; then echo "orr_${kind}_tests += ${f%.c}"; fi
	fi
	if [ $worlds != real ]; then
		echo "orr_sim_test_programs += ${f%.c}.sim"
		if is_test "$f"; then echo "orr_sim_tests += ${f%.c}.sim"; fi
	fi
}

# Scripts that wait come first: they have places of their own (tests/lib/run-test), and the others fill the cores until the end.
test_list() {
	echo "$head_line"
	waiting=$(grep -l 'orr-test: waits' tests/*/*.sh)
	for f in $waiting; do echo "orr_script_tests += $f"; done
	for d in tests/*/; do
		d=${d%/}
		case $d in tests/lib|tests/bench|'tests/*') continue ;; esac
		files "$d" -maxdepth 1 -name '*.c' | while read -r f; do test_block "$f"; done
		files "$d" -maxdepth 1 -name '*.sh' | grep -v -x -F -e "$waiting" | sed 's/.*/orr_script_tests += &/'
	done
	files tests -name "*.h" | list orr_test_headers
	files tests ! -path 'tests/bench/*' ! -name '*.mk' | grep '\.[^/]*$\|/run-[^/]*$\|^tests/lib/' | list orr_test_extra
}

# A fuzz target is a test, too: without clang it is run by fuzz/replay.c. One of the message layer needs MPI.
fuzz_list() {
	echo "$head_line"
	files fuzz -maxdepth 1 -name '*_fuzz.c' | while read -r f; do
		p=${f%.c} mpi=
		v=$(canon "$p")
		if grep -q '^#include "mpi/' "$f"; then mpi=' $(MPI_CPPFLAGS)'; fi
		if [ "$mpi" ]; then echo 'if ORR_MPI'; fi
		echo "orr_fuzz_targets += $p"
		echo "${v}_SOURCES = $f \$(orr_fuzz_shared)"
		echo "${v}_CPPFLAGS = \$(orr_unit_cppflags)$mpi"
		echo "${v}_LDFLAGS = \$(orr_fuzz_ldflags)"
		echo "${v}_LDADD = \$(orr_fuzz_ldadd)"
		if [ "$mpi" ]; then echo endif; fi
	done
	{ files fuzz/corpus; files fuzz -maxdepth 1 \( -name 'run-*' -o -name '*.dict' \); } | list orr_fuzz_extra
}

# program_block FILE GROUP FLAGS: a real program made of one source file.
program_block() {
	p=${1%.c}
	v=$(canon "$p")
	echo "$2 += $p"
	echo "${v}_SOURCES = $1"
	echo "${v}_CPPFLAGS = \$($3_cppflags)"
	echo "${v}_LDADD = \$($3_ldadd)"
}

# A benchmark whose name begins with "sim_" is a program of the simulated world alone.
bench_list() {
	echo "$head_line"
	files tests/bench -maxdepth 1 -name '*.c' | while read -r f; do
		case ${f##*/} in sim_*) ;; *) program_block "$f" orr_bench_programs orr_mpi ;; esac
		echo "orr_bench_sims += ${f%.c}.sim"
	done
	files tests/bench ! -name '*.mk' | grep '\.[^/]*$\|/run-[^/]*$' | list orr_bench_extra
}

library_lists
mkdir -p tests/bench doc/man platforms tools examples
example_list | put examples/sources.mk
test_list | put tests/sources.mk
fuzz_list | put fuzz/sources.mk
bench_list | put tests/bench/sources.mk
{
	echo "$head_line"
	files doc/man -name '*.1' | list orr_man
	files doc ! -path 'doc/man/*' ! -path 'doc/html/*' ! -name '*.mk' | list orr_doc
} | put doc/sources.mk
# A build of packages leaves lists of its own there.
{
	echo "$head_line"
	files debian ! -path 'debian/*/*/*' ! -path 'debian/tmp/*' ! -path 'debian/*orrery*/*' ! -path 'debian/autoreconf.*' ! -name '*.mk' \
		! -name '*.debhelper' ! -name '*.substvars' ! -name files ! -name debhelper-build-stamp | list orr_debian
} | put debian/sources.mk
{ echo "$head_line"; files platforms ! -name '*.mk' | list orr_platforms; } | put platforms/sources.mk
{
	echo "$head_line"
	files tools -name '*.py' ! -name 'starpu_*.py' | list orr_tools_python
	files tools ! -path 'tools/report/*' ! -name '*.py' ! -name '*.mk' ! -name '*.in' | list orr_tools_extra
	files tools/report | list orr_tools_page
} | put tools/sources.mk
