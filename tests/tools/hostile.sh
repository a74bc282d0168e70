# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Readers of the tools on hostile files: statistics and traces in both forms, journals of elastic runs, files of machines.
# Thousands of changed inputs (the same ones every time) give a result of finite numbers or one message that names the
# file and the place in it (hostile_files.py); platforms that are no platforms end in a message.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# ORR_HOSTILE: how many files of each kind.
changes=${ORR_HOSTILE:-3000}
"$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/hostile_files.py" "$ORR_TEST_SRCDIR" "$changes" || die "a reader of the tools; see hostile.crash"
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
"$ORRERY" platform -n 2 -o good.xml || die "orrery platform"
ok "$ORRERY" sim -n 2 --platform good.xml "$program"
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
