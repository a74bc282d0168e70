# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One rank of many, alone: it says what it would do, the same in both worlds, and the same as the whole
# run says of that rank; and two processes that play the same rank are told.
# orr-test: timeout 180
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
args="-nt 16 -b 32 --no-prune"

# account FILE: what of the account does not depend on the world.
account() { sed -n 's/^.*rank 3 of 64, alone: //; s/, in [0-9.]* s .*//; s/; holds .*//; /^inserted\|^would send/p' err > "$1"; }

# The words of $args are split on purpose.
# shellcheck disable=SC2086
{
	ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK=3 STARPU_MPI_FAKE_SIZE=64 "$cholesky" $args
	account real
	has real '^inserted [0-9]{3,} tasks, [1-9][0-9]* of them its own$'
	has real '^would send [1-9][0-9]* messages, [1-9][0-9]* bytes, to [1-9][0-9]* ranks, and receive [1-9][0-9]* messages, [1-9][0-9]* bytes, from [1-9][0-9]* ranks$'
	has err 'holds at most [1-9][0-9]* bytes of data that the runtime allocated$'
	has err 'in [0-9.]+ s \([0-9.]+ us each\)$'
	if [ "$ORR_TEST_SIM" = yes ]; then
		ok "$ORRERY" sim --fake-rank 3 --fake-size 64 "$cholesky.sim" $args
		account sim
		cmp real sim || { cat real sim; die "the worlds have other accounts"; }
		# All ranks together send what they receive.
		total=$(for r in 0 1 2 3 4 5; do
			"$ORRERY" sim --quiet --fake-rank $r --fake-size 6 "$cholesky.sim" $args 2>&1 |
				sed -n 's/.*would send \([0-9]*\) messages, .* receive \([0-9]*\) messages.*/\1 \2/p'
		done | awk '{ s += $1; r += $2 } END { print s, r }')
		[ "${total% *}" = "${total#* }" ] && [ "${total% *}" -gt 10 ] || die "sent and received by all: $total"
		ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK=17 STARPU_MPI_FAKE_SIZE=64 "$ORRERY" sim -n 3 "$cholesky.sim" $args
		has err 'processes 0 and [12] of this run both play rank 17 of 64, and measure the same: start one process, or give each'
		[ "$(grep -c 'both play' err)" = 1 ] || { cat err; die "not told once"; }
	fi
	if [ "$ORR_TEST_MPI" = yes ]; then
		ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK=17 STARPU_MPI_FAKE_SIZE=64 "$ORRERY" run -n 3 \
			--oversubscribe "$cholesky" $args
		has err 'processes 0 and 1 of this run both play rank 17 of 64'
		[ "$(grep -c 'both play' err)" = 1 ] || { cat err; die "not told once"; }
	fi
}
# alone NAME RANK SIZE COMMAND...: plays the rank; files for fake_rank.py.
alone() {
	file=$1
	played=$2
	of=$3
	shift 3
	ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK="$played" STARPU_MPI_FAKE_SIZE="$of" \
		ORRERY_MPI_STATS_FILE="$file.csv" ORRERY_STATISTICS="$PWD/$file.jsonl" "$@"
	cp err "$file.err"
}

# The whole run: 16 ranks of two factorizations, one of them also with values that go along trees, and of a stencil; 4 real
# ones.
compare() {
	whole=$1
	shift
	ok "$PYTHON" "$ORR_TEST_SRCDIR/tests/tools/fake_rank.py" "$whole" "$@"
	cat out
}
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil
steps="-nx 8 -ny 8 -b 8 --niter 5"
lu=$ORR_TEST_BUILDDIR/examples/lu/lu
# shellcheck disable=SC2086
for name in cholesky trees stencil lu; do
	case $name in
	cholesky) program=$cholesky words=$args ;;
	trees) program=$cholesky words="-nt 16 -b 512 --no-prune" ;;
	stencil) program=$stencil words=$steps ;;
	*) program=$lu words="-nt 12 -b 16" ;;
	esac
	if [ "$ORR_TEST_SIM" = yes ]; then
		ok "$ORRERY" sim --quiet -n 16 --kernels skip --stats "$name.csv" --statistics "$name.jsonl" "$program.sim" $words
		if [ $name = trees ]; then
			grep '^[0-9]' trees.csv | awk -F, '$3 != $8 { n++ } END { exit !n }' || die "nothing went along trees"
		fi
		pairs=
		for rank in 0 3 10 15; do
			ok "$ORRERY" sim --quiet --fake-rank $rank --size 16 --fake-peers 0 --stats "$name-$rank.csv" \
				--statistics "$name-$rank.jsonl" "$program.sim" $words
			cp err "$name-$rank.err"
			pairs="$pairs $rank=$name-$rank"
		done
		alone "$name-real" 10 16 "$program" $words
		compare "$name" $pairs 10="$name-real"
	fi
done
# shellcheck disable=SC2086
if [ "$ORR_TEST_MPI" = yes ]; then
	for program in "$cholesky" "$stencil"; do
		words=$args
		[ "$program" = "$cholesky" ] || words=$steps
		name=whole-$(basename "$program")
		ok "$ORRERY" run -n 4 --oversubscribe --stats "$name.csv" --statistics "$name.jsonl" "$program" $words
		for rank in 0 3; do alone "$name-$rank" $rank 4 "$program" $words; done
		compare "$name" 0="$name-0" 3="$name-3"
	done
	# The rows and columns of several processes are in one file, each pair once.
	ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_SIZE=4 "$ORRERY" run -n 2 --oversubscribe --stats two.csv \
		sh -c 'STARPU_MPI_FAKE_RANK=$(($'"$rank_variable"' * 3)) exec "$0" "$@"' "$cholesky" $args
	has two.csv '^# alone: ranks 0, 3 of 4$'
	grep '^[0-9]' two.csv | sort > two
	cat whole-cholesky-0.csv whole-cholesky-3.csv | grep '^[0-9]' | sort -u > each
	cmp two each || { diff two each; die "the file of two processes differs"; }
fi
# The table has a limit, which can be changed; only --logical is drawn.
if [ "$ORR_TEST_SIM" = yes ]; then
	# shellcheck disable=SC2086
	ok "$ORRERY" sim --quiet --fake-rank 17 --size 64 --fake-peers 3 --stats many.csv "$cholesky.sim" $args
	[ "$(grep -c -E '^ +[0-9]+( +[0-9]+){4}$' err)" = 3 ] || { cat err; die "not 3 peers"; }
	has err '^ +\.\.\. and [1-9][0-9]* more, none with more bytes; ORRERY_MPI_FAKE_PEERS=0 shows all$'
	has err '^ +total( +[1-9][0-9]*){4}$'
	has many.csv '^# orrery stats: nodes=64 '
	if "$PYTHON" -c 'import matplotlib' 2> err; then
		ok "$ORRERY" matrix many.csv -o figures
		[ -s figures/many_logical_volume.png ] || { cat out; die "the row and the column were not drawn"; }
	fi
	fails 1 'many.csv is of rank 17 of 64, alone .*--logical draws its row and its column' "$ORRERY" matrix --hops many.csv -o figures
	ok env STARPU_SILENT=1 "$ORRERY" sim --quiet --fake-rank 17 --size 64 "$cholesky.sim" -nt 8 -b 8
	[ ! -s err ] || { cat err; die "said although silent"; }
	# One rank does not know the tree of a reduction, and says so.
	ok "$ORRERY" sim --quiet --fake-rank 3 --size 16 "$ORR_TEST_BUILDDIR/examples/reductions/reductions.sim"
	has err 'alone: [1-9][0-9]* reductions would go along trees, which one rank does not know'
fi
if [ "$ORR_TEST_SIM" = yes ]; then
	fails 2 '--fake-rank 64: there are only the ranks 0 to 63 of --fake-size 64' "$ORRERY" sim --fake-rank 64 --fake-size 64 "$cholesky.sim"
	fails 2 '--fake-rank R and --fake-size N go together' "$ORRERY" sim --fake-rank 3 "$cholesky.sim"
	fails 2 '--fake-rank is about one rank alone; leave -n' "$ORRERY" sim -n 4 --fake-rank 3 --fake-size 64 "$cholesky.sim"
	# A simulated program that is started by itself says on a terminal that it has one node only.
	cat > terminal.py << 'END'
import os
import pty
import sys

text = b""


def read(fd):
    global text
    data = os.read(fd, 4096)
    text += data
    return data


status = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read))
sys.exit(0 if status == 0 and b"runs on one simulated node; `orrery sim -n N" in text else "status %d: %r" % (status, text))
END
	ok "$PYTHON" terminal.py "$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal.sim"
	ok "$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal.sim"
	if grep -q 'one simulated node' err; then die "said without a terminal"; fi
fi
