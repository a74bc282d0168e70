# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery matrix` and starpu_mpi_comm_matrix.py: files written for small, large,
# empty and one-valued runs in both input forms; malformed input is named.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"$PYTHON" -c 'import matplotlib' 2> err || skip "no matplotlib"
tool="$PYTHON $ORR_TEST_SRCDIR/tools/starpu_mpi_comm_matrix.py"
header=src,dst,bytes,messages,first_s,last_s

# written PREFIX QUANTITY...: both files of each are there, printed and not empty.
written() {
	prefix=$1
	shift
	for quantity; do
		for suffix in pdf png; do
			grep -q "^$prefix"_$quantity.$suffix'$' out || die "$prefix"_$quantity.$suffix "was not printed"
			[ -s "$prefix"_$quantity.$suffix ] || die "$prefix"_$quantity.$suffix "is empty or missing"
		done
	done
	head -c 5 "$prefix"_volume.pdf | grep -q '%PDF-' || die "not a PDF file"
}

printf '# orrery stats: nodes=4 makespan_s=0.5\n%s\n0,1,100,2,0.0,0.1\n1,2,1000000,3,0.0,0.2\n3,0,7,1,0,0.4\n' $header > four.csv
ok "$ORRERY" matrix four.csv -o figures/new
written figures/new/four volume bandwidth messages
cp figures/new/four_volume.png before.png
ok "$ORRERY" matrix four.csv -o figures/new
cmp before.png figures/new/four_volume.png || die "the same statistics gave another picture"

"$PYTHON" -c 'print("'$header'")
for i in range(1024):
    for d in (1, 32):
        print("%d,%d,%d,%d,0,1" % (i, (i + d) % 1024, 1000 * (i + 1), 3))' > large.csv
ok "$ORRERY" matrix large.csv --prefix=big
written ./big volume bandwidth messages

printf '# nodes=16 makespan_s=0\n%s\n' $header > silent.csv
ok "$ORRERY" matrix silent.csv
written ./silent volume bandwidth messages
printf '%s\n0,0,5,1,0,1\n' $header > one.csv
ok "$ORRERY" matrix - --prefix one < one.csv
written ./one volume bandwidth messages

{
	echo 'a line of the program'
	echo '[starpu_comm_stats][3] TOTAL:   476.000000 B    0.000454 MB      0.000098 B/s    0.000000 MB/s'
	echo '[starpu_comm_stats][3:0]        248.000000 B    0.000237 MB      0.000051 B/s    0.000000 MB/s'
	echo '[starpu_comm_stats][3] shm: 2 payloads, 248 B, copied between ranks of this host'
	echo '[starpu_comm_stats][1] ucx: 3 messages, 188 B, sent to 1 of 3 ranks'
	echo '[1,2]<stdout>:[starpu_comm_stats][1:2] 188.000000 B 0.000065 MB 0.000014 B/s 0.000000 MB/s'
} > run.txt
ok $tool run.txt -o text
written text/run volume bandwidth
has err 'has no messages; that matrix is left out'
ok $tool four.csv -o text
written text/four volume bandwidth messages
ok "$ORRERY" matrix run.txt -o text2

# chain WORLD COMMAND...: from a run with STARPU_MPI_STATS=1 to pictures, under both names of the command.
chain() {
	world=$1
	shift
	STARPU_MPI_STATS=1 "$@" > "$world.out" 2> "$world.txt" || { cat "$world.txt"; die "exit status $? of: $*"; }
	has "$world.txt" 'starpu_comm_stats.*TOTAL'
	ok "$ORRERY" matrix "$world.txt" -o chain
	written "chain/$world" volume bandwidth
	ok $tool "$world.txt" -o chain2
	written "chain2/$world" volume bandwidth
	# A person who redirects standard output finds out where the table is.
	echo 'Hello, world' > stdout.txt
	fails 1 'stdout.txt:1: .*STARPU_MPI_STATS=1 prints is on standard error: keep it with .2> FILE' "$ORRERY" matrix stdout.txt
}
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
if [ "$ORR_TEST_MPI" = yes ]; then
	for transport in shm mpi; do
		ORRERY_TRANSPORT=$transport chain $transport "$ORRERY" run -n 2 --mpirun "--oversubscribe --bind-to none" "$ring"
	done
	grep -q 'shm: [0-9]* payloads' shm.txt || die "no line of the transport shm"
fi
if [ "$ORR_TEST_SIM" = yes ]; then chain sim "$ORRERY" sim -n 4 "$ring.sim"; fi

fails 1 'absent.csv: there is no such file' "$ORRERY" matrix absent.csv
printf '%s\n0,1,12,1,0,1\n0,x,12,1,0,1\n' $header > bad.csv
fails 1 "bad.csv:3: dst is 'x', not a number" "$ORRERY" matrix bad.csv
printf '%s\n0,1,12\n' $header > bad.csv
fails 1 'bad.csv:2: 3 fields, but the header has 6' "$ORRERY" matrix bad.csv
printf 'from,to\n0,1\n' > bad.csv
fails 1 'bad.csv:1: the header line lacks src, dst' "$ORRERY" matrix bad.csv
printf '%s\n0,1,-4,1,0,1\n' $header > bad.csv
fails 1 "bad.csv:2: bytes is '-4'" "$ORRERY" matrix bad.csv
printf '%s\n0,1,nan,1,0,1\n' $header > bad.csv
fails 1 "bad.csv:2: bytes is 'nan'" "$ORRERY" matrix bad.csv
printf '%s\n0,99999999999,4,1,0,1\n' $header > bad.csv
fails 1 'bad.csv:2: dst is 99999999999' "$ORRERY" matrix bad.csv
: > empty.csv
fails 1 'empty.csv:1: no header line' "$ORRERY" matrix empty.csv
head -c 4096 /dev/urandom > noise.csv
fails 1 'noise.csv:[0-9]+: ' "$ORRERY" matrix noise.csv
printf '[starpu_comm_stats][3:0] lots\n' > bad.txt
fails 1 'bad.txt:1: not a line of communication' $tool bad.txt
fails 2 'no statistics given' "$ORRERY" matrix
