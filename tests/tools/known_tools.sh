# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Tools under the names that users of StarPU know: starpu_config, starpu_env,
# starpu_sched_display, starpu_codelet_profile, starpu_calibrate_bus.
# (machine.sh and perfmodel.sh test the other ones.)
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
bin=$ORR_TEST_BUILDDIR
for tool in starpu_config starpu_env starpu_sched_display starpu_codelet_profile starpu_calibrate_bus; do
	ok "$bin/$tool" --help
	has out '^usage: '
done
for tool in starpu_config starpu_sched_display starpu_codelet_profile starpu_calibrate_bus; do
	ok "$bin/$tool" --version
	has out "^$tool "
done

# starpu_config
ok "$bin/starpu_config"
has out '^interface +StarPU 1\.4'
has out '^#define STARPU_MAJOR_VERSION 1$'
ok "$bin/starpu_config" STARPU_MINOR_VERSION
[ "$(cat out)" = '#define STARPU_MINOR_VERSION 4' ] || die "one parameter"
ok "$bin/starpu_config" -d
if grep -v '^#define ' out; then die "-d shows more than definitions"; fi
ok "$bin/starpu_config" -u
if grep -v '^#undef ' out; then die "-u shows more than parameters that are not defined"; fi
has out '^#undef STARPU_USE_CUDA$'
fails 1 'STARPU_NONSENSE: starpu_config.h has no such parameter' "$bin/starpu_config" STARPU_NONSENSE
fails 2 'unknown option --bogus' "$bin/starpu_config" --bogus

# starpu_env: sourced by a shell, and as a program
PATH=/usr/bin:/bin sh -c '. "$1"; command -v orrery; echo "$LD_LIBRARY_PATH"' sh "$bin/starpu_env" > out 2> err
if command -v bash > /dev/null; then
	ok env LD_LIBRARY_PATH=/before bash -c '. "$1"; command -v orrery; echo "$LD_LIBRARY_PATH"' bash "$bin/starpu_env"
	[ "$(head -n 1 out)" = "$(readlink -f "$bin")/orrery" ] || [ "$(head -n 1 out)" = "$bin/orrery" ] || die "PATH: $(cat out)"
	has out '\.libs:/before$'
fi
ok "$bin/starpu_env"
has out '^export PATH='
ok "$ORRERY" env
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" env --sim
	has out '^export CC=orrery-sim-cc$'
fi

# starpu_sched_display
ok "$bin/starpu_sched_display"
has out '^eager +[a-z]'
has out '^dmda +[a-z]'
ok "$bin/starpu_sched_display" -n prio
[ "$(cat out)" = prio ] || die "one name"
fails 1 'there is no policy magic' "$bin/starpu_sched_display" magic
fails 2 'unknown option --bogus' "$bin/starpu_sched_display" --bogus

# starpu_codelet_profile
cat > run.0 <<'END'
# time_us rank worker event job name | peer tag bytes
# checksum none
0.000 0 -1 submit 1 add up
1.000 0 0 start 1 add up
1.500 0 -1 send 1 1 4
11.000 0 0 end 1 add up
12.000 0 1 start 2 add up
32.000 0 1 end 2 add up
40.000 0 1 start 3 copy
41.000 0 1 end 3 copy
50.000 0 1 start 4 unfinished
END
sed 's/ 0 \([0-9-]\)/ 1 \1/' run.0 | sed '2,$s/ 0 / 1 /' > run.1
ok "$bin/starpu_codelet_profile" run.0
has out '^add up +2 +0\.030 +15\.000 +5\.000 +10\.000 +20\.000$'
has out '^copy +1 +0\.001 +1\.000 +0\.000 +1\.000 +1\.000$'
if grep unfinished out; then die "a task without an end counts"; fi
ok "$bin/starpu_codelet_profile" run.0 run.1 'add up'
has out '^all +4 +0\.060 +15\.000'
has out '^rank 0 worker 1 +1 +0\.020'
fails 1 'no task of codelet gone was recorded' "$bin/starpu_codelet_profile" run.0 gone
fails 1 'is not a trace' "$bin/starpu_codelet_profile" out
fails 2 'which trace' "$bin/starpu_codelet_profile"
sed 's/^11.000/nan/' run.0 > nan.0
fails 1 'nan.0:6: the time is .nan.' "$bin/starpu_codelet_profile" nan.0
sed 's/^11.000/0.500/' run.0 > back.0
fails 1 'back.0:6: task 1 ends before it starts' "$bin/starpu_codelet_profile" back.0
sed '/^# checksum/d' run.0 > lost.0
fails 1 'lost.0:1: it has no checksum: .* give it a line .# checksum none. near its begin' "$bin/starpu_codelet_profile" lost.0
fails 1 'it reads traces; give the trace that distrib.data was' "$bin/starpu_codelet_profile" distrib.data 'add up'

# starpu_calibrate_bus: the name of the machine and of the folder are those of `orrery calibrate'.
fails 2 'unknown option --bogus' "$bin/starpu_calibrate_bus" -f --bogus
fails 2 'only goes with --network' "$bin/starpu_calibrate_bus" -f --shared
