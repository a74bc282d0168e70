#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Payloads around each power of two from 2^30 to 2^33 bytes: right over each transport and in the
# simulated world, contiguous and with gaps, whatever the size of elements; with kernels skipped the time
# is linear in the size from 1 MiB to 64 GiB. Where the program's own MPI cannot carry that many bytes in
# a simulation, it says so. `make check` takes one cell of each kind, `make check-long` (ORR_SIZES=all)
# the whole table. On a virtual machine it takes 10 us to touch a page for the first time.
# Beside other work MPI alone takes minutes for 1 GiB in pieces of 32 KiB, because a rank that yields after a piece waits for its
# core: Open MPI has pieces of 1 MiB here, and its own ones in `make check-long`.
# orr-test: timeout 1200
# orr-test: sanitizer none
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/sizes
all=${ORR_SIZES-}

# cells FORM...: the cells of the table, for elements of 1, 8 and 7 bytes in turn.
cells() {
	awk -v forms="$*" 'BEGIN {
		n = split(forms, form, " "); split("1 8 7", element, " ")
		for (k = 30; k <= 33; k++)
			for (d = -1; d <= 1; d++)
				for (i = 1; i <= n; i++) {
					e = element[c++ % 3 + 1]
					printf "%s:%.0f:%d ", form[i], 2 ^ k + d * e, e
				}
		printf "vv:%.0f:1 mm:%.0f:8 mv:%.0f:7\n", 4.5 * 2 ^ 30, 5 * 2 ^ 30, 4.5 * 2 ^ 30
	}'
}

# has_memory GIB: the system has that much to spare.
has_memory() {
	awk -v want="$1" '/^MemAvailable/ { have = $2 / 1048576 } END { exit !(have >= want + 2) }' /proc/meminfo ||
		{ echo "not tried, for want of $1 GiB: $2"; return 1; }
}

# The same law from the smallest size to the largest: a time for the beginning, and one for each byte.
linear() {
	awk -v most=0.01 '$1 ~ /^[a-z][a-z]:[0-9]/ { size[++n] = $2; us[n] = $3 }
		END {
			slope = (us[n] - us[1]) / (size[n] - size[1])
			for (i = 1; i <= n; i++) {
				law = us[1] + slope * (size[i] - size[1])
				if (us[i] < law * (1 - most) || us[i] > law * (1 + most)) {
					print size[i] " bytes take " us[i] " us, the law says " law
					wrong = 1
				}
			}
			exit wrong || n < 2 || slope <= 0
		}' out || { cat out; die "the time is not linear in the size: $*"; }
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	# A tree to several receivers has another shape for each size until its pieces are many.
	for form in vv mm; do
		for how in '2 share 20' '2 queue 20' '2 tcp 20' '2 maxmin 20' '8 share 26'; do
			set -- $how
			list=$(awk -v form=$form -v k="$3" 'BEGIN { for (; k <= 36; k++) printf "%s:%.0f:32 ", form, 2 ^ k }')
			# shellcheck disable=SC2086
			ok env ORR_SIZES_SKIP=1 "$ORRERY" sim -n "$1" --network "$2" --kernels skip "$program.sim" $list
			linear "$form, $1 nodes, --network $2"
		done
	done
	[ "${ORR_TEST_DEBUG:-no}" = yes ] || ok "$ORRERY" sim -n 2 "$program.sim" vv:4294967296:8
	ok "$ORRERY" sim -n 2 "$program.sim" mm:2147483656:7
	fails 1 'MPI_Type_contiguous with 2147487744 bytes: the messages and datatypes' \
		"$ORRERY" sim -n 2 "$program.sim" tt:2147487744
	fails 1 'network smpi carries at most 2147483647 bytes in a message while kernels run' \
		"$ORRERY" sim -n 2 --network smpi "$program.sim" vv:2147483648
	if [ "$all" = all ]; then
		for form in vv mm mv; do
			# shellcheck disable=SC2046
			ok "$ORRERY" sim -n 2 "$program.sim" $(cells $form)
		done
		ok "$ORRERY" sim -n 3 "$program.sim" vv:4294967296:8
		ok "$ORRERY" sim -n 2 "$program.sim" mm:4294967296 mm:8589934592
		ok "$ORRERY" sim -n 4 "$program.sim" vv:5368709120:7 mm:4294967296:8
		ok "$ORRERY" sim -n 2 --network smpi "$program.sim" vv:1073741824 mm:2147483640:8 vv:2147483647
	fi
fi

[ "${ORR_TEST_MPI:-yes}" = yes ] || exit 0
transports='mpi shm'
# A debug build tries one cell: what was not asserted for it, the other build has seen.
if [ "${ORR_TEST_DEBUG:-no}" = yes ]; then
	ok env ORRERY_TRANSPORT=shm "$ORRERY" run -n 2 "$program" vv:4294967303:7
	exit 0
fi
if [ "${ORR_TEST_UCX:-yes}" = yes ]; then transports="$transports ucx"; fi
if [ "$all" != all ]; then
	for btl in vader sm; do # Open MPI 4 and 5
		export OMPI_MCA_btl_${btl}_max_send_size=1048576 OMPI_MCA_btl_${btl}_segment_size=67108864
	done
fi
for transport in $transports; do
	ORRERY_TRANSPORT=$transport
	export ORRERY_TRANSPORT
	ok "$ORRERY" run -n 2 "$program" vv:4294967303:7
	# UCX sends without gaps: each rank makes a copy.
	if [ "$all" = all ] || [ $transport = mpi ]; then
		if [ $transport != ucx ] || has_memory 5 "gaps over UCX"; then
			ok "$ORRERY" run -n 2 "$program" mm:2147483656:8 tt:2147487744
		fi
	fi
	if [ "$all" = all ]; then
		# shellcheck disable=SC2046
		ok "$ORRERY" run -n 2 "$program" $(cells vv)
		if [ $transport != ucx ]; then
			# shellcheck disable=SC2046
			ok "$ORRERY" run -n 2 "$program" $(cells mm mv)
		fi
		ok "$ORRERY" run -n 4 "$program" vv:4294967296:8
	fi
done
