# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Mistakes with data that end the program: each with a message that names it, in each world that was built, never by a signal.
# orr-test: timeout 200
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/data/refused

# no NAME REGEX
no() {
	fails 1 "$2" "$program" "$1"
	[ "$ORR_TEST_SIM" != yes ] || fails 1 "$2" "$ORRERY" sim -n 1 "$program.sim" "$1"
}

no accessor_null 'starpu_vector_get_nx: the handle is NULL'
no same_null 'starpu_data_register_same: the handle is NULL'
no no_handle 'a pointer to the new handle that is NULL'
no no_methods 'a table of methods \(ops\) that is NULL'
no no_filter '"h": the filter is NULL'
no no_children 'plan of "h": there is nowhere to put the pieces'
no no_sizes 'ndim data: nn is NULL; give an array of 3 entries'
no no_leading 'ndim data: ldn is NULL; give an array of 3 entries'
no no_format 'the format.s ops are missing or have cpu_elemsize 0'
no no_array 'csr data: one of its arrays is NULL'
no element_of_0 'vector data: the size of an element is 0'
no overlap 'the leading dimension 3 of dimension 1 makes elements overlap; it must be at least 4'
no small_allocation 'the allocation size of 63 bytes is below the 64 bytes of the value'
no huge_dense 'matrix data: the sizes overflow'
for i in csr bcsr coo; do no huge_$i "$i data: the sizes overflow"; done
no huge_leading 'block data: the leading dimension of dimension 2 would be 1099511627776 elements, it has 32 bits'
no alignment 'set_align\(24\): it takes a power of two'
no gather_nowhere '"h" on memory node 77, but there are 1'
no second_partition '"h" is partitioned already: call starpu_data_unpartition first'
no clean_inner 'its piece 1 has a plan of its own; clean that first'
