# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs whose books are known exactly (books.c): one cost or two at a time, all others 0. What each
# kind of time must be stands in the table in nanoseconds, or as a sum; what is not named must be 0,
# and the kinds must add up to the time that passed, times the workers.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/books.sim
cases=0

# books RANKS CPUS COSTS RUN KIND=NS...: COSTS are NAME=US with commas, or "-". The kinds are rank
# 0's; with `message`, those of rank 1.
books() {
	ranks=$1 cpus=$2 costs=,$3 run=$4
	shift 4
	options="--cpus $cpus"
	for name in submit access foreign complete datum sched reload reload-large message interrupt wake look profile-submit profile shared shared-datum shared-profile turn; do
		value=0
		case $costs in *",$name="*) value=${costs##*",$name="} value=${value%%,*} ;; esac
		options="$options --cost-$name $value"
	done
	# shellcheck disable=SC2086
	ok "$ORRERY" sim -n "$ranks" $options "$program" $run
	case $run in message*) rank=1 ;; *) rank=0 ;; esac
	line=$(grep "^rank $rank: " out) || die "no books: $(cat out)"
	sum=0
	for kind in kernels messages submission foreign idle data runtime; do
		got=${line##* "$kind "} got=${got%%[!-0-9]*}
		want=0
		sum=$((sum + got))
		for w; do
			case $w in
			$kind=any) want=$got ;;
			$kind=*) want=$((${w#*=})) ;;
			esac
		done
		[ $((got - want)) -le 1 ] && [ $((want - got)) -le 1 ] ||
			die "$run with ${costs#,} on $cpus cores: $kind $got ns, not $want: $line"
	done
	passed=${line##* passed }
	[ "$passed" -lt 0 ] || { [ $((sum - cpus * passed)) -le "$cpus" ] && [ $((cpus * passed - sum)) -le "$cpus" ]; } ||
		die "$run with ${costs#,} on $cpus cores: $sum ns are booked of $cpus times $passed"
	cases=$((cases + 1))
}

# Only kernels.
books 1 1 - 'ready 10 5' kernels=50000
books 1 1 - 'fed 10 5' kernels=50000
books 1 1 - 'chain 10 5' kernels=50000
books 1 4 - 'ready 12 5' kernels=60000
books 1 4 - 'ready 10 5' kernels=50000 idle=10000
books 1 4 - 'chain 10 5' kernels=50000 idle=150000
# The start and the end of a task are the runtime's, whatever the kernel takes.
for cost in complete sched profile; do
	books 1 1 $cost=20 'ready 10 5' kernels=50000 runtime=200000
	books 1 1 $cost=20 'ready 10 0.73' kernels=7300 runtime=200000
	books 1 1 $cost=0.5 'ready 1000 100' kernels=100000000 runtime=500000
	books 1 2 $cost=20 'ready 10 5' kernels=50000 runtime=200000
	books 1 1 $cost=20 'chain 10 5' kernels=50000 runtime=200000
	books 1 4 $cost=20 'chain 10 5' kernels=50000 runtime=200000 idle=3*250000
done
books 1 1 datum=20 'ready 10 5' kernels=50000
books 1 1 datum=20 'chain 10 5' kernels=50000 runtime=200000
books 1 4 datum=20 'chain 10 5' kernels=50000 runtime=200000 idle=3*250000
books 1 1 complete=20,sched=10 'ready 10 5' kernels=50000 runtime=300000
books 1 1 complete=20,datum=10 'chain 10 5' kernels=50000 runtime=300000
# Many workers share the runtime, and data that others used last.
for cost in shared shared-profile; do
	books 1 1 $cost=20 'ready 10 5' kernels=50000
	books 1 2 $cost=20 'ready 10 5' kernels=50000 runtime=100000
	books 1 4 $cost=20 'chain 10 5' kernels=50000 runtime=150000 idle=3*200000
done
books 1 4 shared=20,complete=10 'chain 10 5' kernels=50000 runtime=250000 idle=3*300000
books 1 1 shared-datum=20 'chain 10 5' kernels=50000
books 1 2 shared-datum=20 'turns 10 5' kernels=50000 runtime=180000 idle=230000
books 1 2 shared-datum=20,datum=1 'turns 10 5' kernels=50000 runtime=190000 idle=240000
books 1 2 shared-datum=20 'ready 10 5' kernels=50000
# Kernels that use the caches: 1 KiB leaves all of it there, 8 and 256 KiB are half on the way to the next size.
for size in 1=0 8=10 64=20 256=30 1024=40 4096=40; do
	books 1 1 reload=20,reload-large=40 "sized 10 5 ${size%=*}" kernels=50000 runtime=${size#*=}*10000
done
books 1 1 reload=20 'sized 10 5 256' kernels=50000 runtime=200000
books 1 1 reload-large=20 'sized 10 5 64' kernels=50000
books 1 1 reload-large=20 'sized 10 5 256' kernels=50000 runtime=100000
books 1 1 reload=20,complete=10 'sized 10 5 64' kernels=50000 runtime=300000
books 1 1 reload=20,reload-large=40 'chain 10 5' kernels=50000
books 1 1 reload=20,reload-large=40 'ready 10 5' kernels=50000
# The program cannot feed the workers. They wait for it, those that get no task, too.
for cpus in 1 2 4 16 64; do
	books 1 $cpus submit=10 'fed 100 5' kernels=500000 submission=$cpus*1000000-99*5000 idle=$((cpus - 1))*5000
	books 2 $cpus foreign=10 'foreign 10 5 3' kernels=50000 foreign=$cpus*300000-9*5000 idle=$((cpus - 1))*5000
	books 1 $cpus profile-submit=10 'fed 100 5' kernels=500000 submission=$cpus*1000000-99*5000 idle=$((cpus - 1))*5000
	books 1 $cpus access=10 'chain 100 5' kernels=500000 submission=$cpus*1000000-99*5000 idle=$((cpus - 1))*5000
done
books 2 1 submit=5,foreign=10 'foreign 10 0.001 300' kernels=10 submission=50000-9 foreign=30000000
# What a worker submits or completes itself does not make it wait.
books 1 1 submit=10,complete=20 'ready 10 5' kernels=50000 runtime=200000
# The program takes what it needs from the only core: the runtime's, unless it takes turns with the worker. Then by the clock, which
# books go by, kernels last longer, and what the runtime does for tasks, each by its part.
books 1 1 submit=1 'fed 1000 10' kernels=10000000 runtime=998000
for turn in 20 100 1000; do
	books 1 1 submit=1,turn=$turn 'fed 1000 10' kernels=10998000
	books 1 1 submit=1,complete=10,turn=$turn 'fed 1000 10' kernels=10499000 runtime=10499000
	books 1 2 submit=1,turn=$turn 'fed 1000 10' kernels=10996000 submission=2000 idle=6000
done
# A message: as much as rank 0's kernel takes, and its way.
for cpus in 1 4; do
	books 2 $cpus - 'message 10 50' kernels=500000 messages=any idle=$((cpus - 1))*50000
done
# The worker's core handles a message while it computes: its kernel lasts longer, and traces show it as it is without.
for cost in 0 200; do
	ok "$ORRERY" sim -n 4 --cpus 1 --cost-interrupt $cost --kernels skip --trace trace "$ORR_TEST_BUILDDIR/examples/stencil/stencil.sim" -nx 8 -ny 8 -b 256 --niter 4
	sed -n 's/^orrery sim: 4 nodes, \([0-9.]*\) s.*/\1/p' err > time.$cost
	ok "$ORRERY" profile trace
	grep '^update ' out > update.$cost
done
awk -v a="$(cat time.0)" -v b="$(cat time.200)" 'BEGIN { exit !(a > 0 && b > 1.2 * a) }' || die "messages that are handled on a worker's core take nothing"
cmp update.0 update.200 || die "kernels have the time that messages took: $(cat update.0 update.200)"
[ $cases -ge 40 ] || die "only $cases runs"
exit 0
