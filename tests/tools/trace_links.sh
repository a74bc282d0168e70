# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The load of links of a simulated network: the trace has how much each one carried, and when it was full; `orrery explain` and the
# page of `orrery report` name those that were full for most of the time, and none where they were not. Virtual times do not
# change. Real runs have none.
# orr-test: timeout 200
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
causes=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
check() { ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_links.py" "$ORR_TEST_SRCDIR/tools" "$@"; cat out; }

# same COMMAND...: its time with a trace, t, is the one without
same() {
	ok env "$@"
	said err | sed 's/; took.*//' | sed -n 1p > without
	ok env ORRERY_TRACE="$PWD/t" "$@"
	said err | sed 's/; took.*//' | sed -n 1p > with
	cmp without with || die "virtual times depend on the trace"
}

if [ "$ORR_TEST_SIM" = yes ]; then
	for network in share queue tcp maxmin smpi; do
		same "$ORRERY" sim -n 4 --network $network "$causes.sim" rounds bytes=20000000 rounds=4 make=100 take=100
		check t star
		ok "$ORRERY" explain t
		has out '^Links that were full:$'
		has out '^  node-[0-9]-link_(UP|DOWN) .12.5 GB/s.: full for 8[0-9] % of the time$'
		same "$ORRERY" sim -n 8 --network $network "$causes.sim" spread bytes=3000000 blocks=40 rounds=1
		check t star
		ok "$ORRERY" explain t
		has out '^  node-0-link_UP .12.5 GB/s.: full for [0-9]+ % of the time$'
		if grep -q 'node-[1-7]-link.*: full' out; then die "a link that was not: $(cat out)"; fi
		# Messages that are few and small fill none.
		same "$ORRERY" sim -n 4 --network $network "$causes.sim" rounds bytes=3000
		check t star
		ok "$ORRERY" explain t
		if grep -q '^Links' out; then die "a link that was not full: $(cat out)"; fi
	done
	ok "$ORRERY" sim -n 8 --trace t "$causes.sim" spread bytes=3000000 blocks=40 rounds=1
	if "$PYTHON" -c 'import numpy' 2> err && [ -e /usr/share/javascript/d3/d3.min.js ]; then
		ok "$ORRERY" report t -o p.html
		has p.html 'link node-0-link_UP .12.5 GB/s.: full for'
		has p.html '"words":"All 8 links that messages went over."'
	fi
	ok "$ORRERY" explain t --from 0.002 --to 0.008
	has out '^  node-0-link_UP .12.5 GB/s.: full for [0-9]+ % of the time$'
	# The bandwidth of links changes.
	for network in share maxmin smpi; do
		same "$ORRERY" sim -n 4 --network $network --background-load 50 --seed 1 "$causes.sim" rounds bytes=2000000 rounds=4 make=100 take=100
		ok "$ORRERY" explain t
		# Nor by a nanosecond.
		for kinds in tasks tasks,links; do
			ok "$ORRERY" sim -n 4 --network $network --background-load 50 --seed 1 --trace t --trace-kinds $kinds \
				"$causes.sim" rounds bytes=2000000 rounds=4 make=100 take=100
			ok "$ORRERY" trace t --csv -o times
			mv times/tasks.csv times.$kinds
		done
		cmp times.tasks times.tasks,links || die "times depend on the load of links, with $network"
	done
	# A message alone on its route, one link of which changes meanwhile: the others carry its bytes all the same.
	printf 'PERIODICITY 0.0007\n0.0001 500000000\n0.0004 2000000000\n' > w.bw
	sed 's/ 500/ 700/' w.bw > v.bw
	cat > w.xml << X
<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="node-0-link_UP" bandwidth="4GBps" latency="1us"/><link id="node-0-link_DOWN" bandwidth="4GBps" latency="1us"/>
<link id="node-1-link_UP" bandwidth="4GBps" latency="1us"/><link id="node-1-link_DOWN" bandwidth="4GBps" latency="1us"/>
<link id="w" bandwidth="2GBps" latency="1us" bandwidth_file="w.bw"/><link id="v" bandwidth="2GBps" latency="1us" bandwidth_file="v.bw"/>
<route src="a" dst="b" symmetrical="NO"><link_ctn id="node-0-link_UP"/><link_ctn id="w"/><link_ctn id="node-1-link_DOWN"/></route>
<route src="b" dst="a" symmetrical="NO"><link_ctn id="node-1-link_UP"/><link_ctn id="v"/><link_ctn id="node-0-link_DOWN"/></route></zone></platform>
X
	for network in share maxmin; do
		same "$ORRERY" sim -n 2 --platform w.xml --network $network "$causes.sim" rounds bytes=2000000 rounds=4 make=100 take=100
		check t wire
	done
	# The runtime begins several times: nothing counts twice.
	ok "$ORRERY" sim -n 2 --trace t "$ORR_TEST_BUILDDIR/tests/mpi/mem_throttle.sim"
	check t star
	ok "$ORRERY" sim -n 4 --trace t --trace-kinds tasks,messages,waits "$causes.sim" rounds bytes=20000000 rounds=4
	check t none
	ok "$ORRERY" sim -n 4 --trace t --trace-kinds links --trace-ranks 1 "$causes.sim" rounds bytes=20000000 rounds=4
	ok "$ORRERY" trace t
	has out '^ +link +[0-9]+$'
	# In a file with a limit, a few links have stretches.
	ok "$ORRERY" sim -n 64 --kernels skip --trace t --trace-limit 1M "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 48
	[ "$(wc -c < t)" -le 1048576 ] || die "the file is longer than its limit"
	ok "$ORRERY" trace t --csv -o tables
	[ "$(tail -n +2 tables/loads.csv | cut -d, -f1 | sort -u | wc -l)" = 8 ] || die "not 8 links have stretches"
	ok "$ORRERY" explain t
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" run -n 2 --oversubscribe --trace t "$causes" rounds bytes=2000000 rounds=4
	check t none
fi
