#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Elastic runs that grow on hosts which have processes already: one host that is not mpirun's, two of them, and mpirun's
# beside another. Daemons there have the settings of PMIx that mpirun has; the options of users that start daemons
# stay theirs.
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
case ${ORR_TEST_MPI_LIBRARY-openmpi4} in openmpi4) ;; *) skip "elastic runs need Open MPI 4" ;; esac
unset PMIX_MCA_gds EVENT_NOEPOLL
hosts_world "$@"
hosts_up 2
export STARPU_NCPU=1 OMPI_MCA_mpi_yield_when_idle=1
limit=$((60 * ${ORR_TEST_FACTOR:-1}))
loop=$ORR_TEST_BUILDDIR/examples/elastic_loop/elastic_loop

# grows N HOSTS [OPTION...]: from N processes to 4, one at a time.
grows() {
	n=$1 hosts_given=$2
	shift 2
	ok timeout $limit "$ORRERY" run --elastic -n "$n" --max 4 --mpirun "--host $hosts_given --mca plm_rsh_agent $hosts_agent $*" \
		"$loop" -c 60 -n 1 -l 4 -m i+
	has out '^end with 4 processes'
}
grows 1 h1:4
grows 2 h1:4
grows 2 h1:1,h2:3
grows 3 h1:2,h2:2
grows 1 "localhost:2,h2:2"
grows 1 h1:4 --prefix /usr
grows 1 h1:4 --launch-agent orted
OMPI_MCA_orte_launch_agent=orted grows 1 h1:4

# Settings of a person go to the daemons; without other hosts there are none.
ok env PMIX_MCA_gds=ds12,hash "$ORRERY" run --elastic --show -n 1 --mpirun "--host h1:4" "$loop"
has out "orte_launch_agent 'env EVENT_NOEPOLL=1 PMIX_MCA_gds=ds12,hash orted'"
ok "$ORRERY" run --elastic --show -n 1 "$loop"
! grep -n launch_agent out || die "daemons on no host"
exit 0
