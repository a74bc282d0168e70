# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Readers of the tools on hostile files: statistics and traces in both forms, journals of elastic runs, files of machines.
# Thousands of changed inputs (the same ones every time) give a result of finite numbers or one message that names the
# file and the place in it (hostile_files.py); platforms that are no platforms end in a message.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# ORR_HOSTILE: how many files of each kind.
changes=${ORR_HOSTILE:-3000}
# The readers are in Python, and the same in debug builds.
[ "$ORR_TEST_DEBUG" = yes ] || "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/hostile_files.py" "$ORR_TEST_SRCDIR" "$changes" ||
	die "a reader of the tools; see hostile.crash"
[ "$ORR_TEST_SIM" = yes ] || exit 0

# ---- platforms ----
program=$ORR_TEST_BUILDDIR/examples/ring/ring.sim
refused() {
	fails 1 "$1: SimGrid cannot use it: ." "$ORRERY" sim -n 2 --platform "$1" "$program"
	[ "$(wc -l < err)" -le 2 ] || die "more than one message: $1"
}
head='<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">'
"$ORRERY" platform -n 2 -o sealed.xml || die "orrery platform"
sed '/^<!-- checksum/d' sealed.xml > good.xml
[ "$(($(wc -l < sealed.xml) - 2))" = "$(wc -l < good.xml)" ] || die "a platform has two lines of its checksum"
ok "$ORRERY" sim -n 2 --platform good.xml "$program"
ok "$ORRERY" sim -n 2 --platform sealed.xml "$program"
ok "$ORRERY" sim -n 2 --platform /dev/stdin "$program" < sealed.xml
sed 's/12.5GBps/12.6GBps/' sealed.xml > changed.xml
fails 1 '^orrery sim: --platform changed.xml:[0-9]*: the checksum is [0-9a-f]{8}, and that of the lines before it [0-9a-f]{8}: .*put one line .<!-- checksum none -->. in place' \
	"$ORRERY" sim -n 2 --platform changed.xml "$program"
sed 's/^<!-- checksum at the end/<!-- checksum none/; $d' changed.xml > hand.xml
ok "$ORRERY" sim -n 2 --platform hand.xml "$program"
sed '$d' sealed.xml > cut.xml
fails 1 '^orrery sim: --platform cut.xml:[0-9]*: the checksum is missing' "$ORRERY" sim -n 2 --platform cut.xml "$program"
: > empty.xml
refused empty.xml
head -c "$(($(wc -c < good.xml) / 2))" good.xml > cut.xml
refused cut.xml
head -c 3000 /dev/zero > zeros.xml
refused zeros.xml
echo 'src,dst,bytes' > foreign.xml
refused foreign.xml
echo "$head<zone id='z' routing='Full'><host id='a' speed='fast'/><host id='b' speed='1Gf'/></zone></platform>" > speed.xml
refused speed.xml
echo "$head<zone id='z' routing='Full'><host id='a' speed='1Gf'/><host id='a' speed='1Gf'/></zone></platform>" > twice.xml
refused twice.xml
echo "$head<zone id='z' routing='Nowhere'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/></zone></platform>" > routing.xml
refused routing.xml
for machine in no_such_machine ../../etc/passwd ''; do
	echo "$head<zone id='z' routing='Full'><host id='a' speed='1Gf'><prop id='machine' value='$machine'/></host><host id='b' speed='1Gf'/>
		<link id='l' bandwidth='1GBps' latency='1us'/><route src='a' dst='b'><link_ctn id='l'/></route></zone></platform>" > property.xml
	fails 1 "the host a has the machine $machine, which is unknown; there are:.* quickstart" "$ORRERY" sim -n 2 --platform property.xml "$program"
done

# Changed ones. All of it is one process of the launcher (hostile_platforms.cpp), in which a sanitizer would come too late.
[ "$ORR_TEST_SANITIZER" = no ] || exit 0
command -v "${CXX:-c++}" > /dev/null || exit 0
"${CXX:-c++}" -O1 -shared -fPIC -o platforms.so "$ORR_TEST_SRCDIR/tests/tools/hostile_platforms.cpp" -ldl || die "hostile_platforms.cpp"
# A program that prints its virtual time.
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
for file in good.xml sealed.xml; do
	rm -f report
	HOSTILE_PLATFORM=$file HOSTILE_CHANGES=${ORR_HOSTILE:-300} LD_PRELOAD=$PWD/platforms.so \
		"$ORRERY" sim -n 2 --platform $file --kernels skip "$cholesky" -nt 6 -b 512 >> child.out 2>> child.err
	got=$?
	cat report || die "no platform was changed: $(cat child.err)"
	[ $got = 0 ] || die "a changed platform; see hostile.crash"
done

# Numbers that no platform has, which were once the end of the simulator.
for change in 's/ bw="[^"]*"/ bw="0"/' 's/ bw="[^"]*"/ bw="-1"/' 's/ lat="[^"]*"/ lat="-1us"/' 's/ speed="[^"]*"/ speed="0"/'; do
	sed "$change" good.xml > numbers.xml
	cmp -s good.xml numbers.xml && die "$change changes nothing"
	refused numbers.xml
done
sed 's/ bw="[^"]*"/ bw="0"/' good.xml > numbers.xml
refused numbers.xml
has err 'the link [^ ]* has a bandwidth of 0 B/s'
exit 0
