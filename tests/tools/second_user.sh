# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Another user of this host, whom root plays: links and files of his where everybody may write, at places whose names he
# knows; locks that he holds on files that he may read; doors that are not his. Nothing of the run's user is written or
# read through them, and nobody waits for him for long.
# orr-test: timeout 240
# orr-test: waits
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to play another user"
command -v "$PYTHON" > /dev/null || skip "needs Python"
# The other user reaches this place, whatever the folder of the build allows.
place=$(mktemp -d /tmp/orrery-second-XXXXXX) || die "no folder in /tmp"
trap 'rm -rf "$place"; if [ -n "${planted-}" ]; then rm -rf /tmp/.starpu; fi; if [ -n "${holder-}" ]; then kill "$holder" 2> /dev/null; fi' EXIT
chmod 711 "$place"
cd "$place" || die "no folder"
mkdir public home
chmod 1777 public
program=$ORR_TEST_BUILDDIR/tests/real/model_doors
export STARPU_NCPU=1 STARPU_HOME="$place/home" USER=root
unset OMPI_MCA_orte_tmpdir_base

# other CODE: Python that the other user runs here.
other() { "$PYTHON" -c "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534)
$1"; }
# says REGEX COMMAND...: it ends, soon, and says that.
says() {
	regex=$1
	shift
	timeout 60 "$@" > out 2> err
	[ $? != 124 ] || die "it does not end: $*"
	cat err out > both
	has both "$regex"
}

# The trace that STARPU_FXT_TRACE asks for has a name that everybody knows.
trace=public/prof_file_root_0
export STARPU_FXT_PREFIX=$place/public
other "os.symlink('$place/victim', '$trace')"
STARPU_FXT_TRACE=1 says "prof_file_root_0' cannot be written: it is a link" "$program"
[ ! -e victim ] || die "a trace was written through another user's link"
rm $trace
other "open('$trace', 'w').close(); os.chmod('$trace', 0o666)"
STARPU_FXT_TRACE=1 says "prof_file_root_0' cannot be written: it is another user's" "$program"
[ ! -s $trace ] || die "a trace was written into another user's file"
rm $trace
STARPU_FXT_TRACE=1 ok "$program"
[ -s $trace ] || die "there is no trace"

# Statistics in such a place.
echo precious > victim
other "os.symlink('$place/victim', 'public/statistics')"
ORRERY_STATISTICS=$place/public/statistics says "statistics' cannot be written: it is a link" "$program"
[ "$(cat victim)" = precious ] || die "statistics were written through another user's link"

# What an option or a variable names there, in both worlds.
# through FILE REGEX COMMAND...: a link of his at FILE is not followed.
through() {
	file=$1
	shift
	other "os.symlink('$place/victim', '$file')"
	says "$@"
	[ "$(cat victim)" = precious ] || die "$file was written through another user's link: $*"
	rm "$file"
}
through public/trace "'public/trace' cannot be written: it is a link" env ORRERY_TRACE=public/trace "$program"
if [ "$ORR_TEST_MPI" = yes ]; then
	through public/run.csv "public/run.csv' cannot be written: it is a link" \
		"$ORRERY" run -n 2 --mpirun --oversubscribe --stats public/run.csv "$ORR_TEST_BUILDDIR/tests/mpi/ring_detached"
	through public/journal 'public/journal cannot be written: it is a link' \
		env ORRERY_DYN_LOG=public/journal "$ORR_TEST_BUILDDIR/orrery-elastic" 1 2 - true
fi
if [ "$ORR_TEST_SIM" = yes ]; then
	through public/run.csv 'public/run.csv: it cannot be written: it is a link' \
		"$ORRERY" sim -n 2 --stats public/run.csv "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"
	other "open('public/run.csv', 'w').write('his'); os.chmod('public/run.csv', 0o666)"
	says "public/run.csv: it cannot be written: it is another user's" \
		"$ORRERY" sim -n 2 --stats public/run.csv "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"
	[ "$(cat public/run.csv)" = his ] || die "another user's file was changed"
	rm public/run.csv
	# A second name of one of our files, as another user may make it on some systems.
	ln victim public/run.csv
	says "public/run.csv: it cannot be written: it is another user's, has another name" \
		"$ORRERY" sim -n 2 --stats public/run.csv "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"
	[ "$(cat victim)" = precious ] || die "a file was written by its other name"
	rm public/run.csv
fi

# Locks that he holds on what he may read.
ORRERY_STATISTICS=$place/statistics ok "$program"
chmod 644 statistics $trace
other "import fcntl, time
held = [open(path) for path in ('$trace', 'statistics')]
for file in held: fcntl.flock(file, fcntl.LOCK_EX)
open('public/ready', 'w').close()
time.sleep(200)" &
holder=$!
for i in $(seq 100); do [ -e public/ready ] || sleep 0.1; done
[ -e public/ready ] || die "the locks are not held"
STARPU_FXT_TRACE=1 says "prof_file_root_0' cannot be written: somebody holds its lock" "$program"
ORRERY_STATISTICS=$place/statistics says "statistics' cannot be written: somebody holds its lock" "$program"
kill $holder
wait $holder 2> /dev/null
holder=

# Models: he may not even open their lock.
STARPU_CALIBRATE=1 ok "$program"
find home -type d -exec chmod a+rx {} +
other "
try:
    open('home/.starpu/sampling/.lock')
except PermissionError:
    raise SystemExit(0)
raise SystemExit('another user opens the lock of the models')" || die "the lock of the models"

# Compiled OpenCL programs without a home.
opencl=$ORR_TEST_BUILDDIR/tests/data/opencl
if [ "$ORR_TEST_OPENCL" = yes ] && STARPU_OPENCL_ON_CPUS=1 timeout 100 "$opencl" > out 2>&1 && grep -q '^[1-9][0-9]* devices' out && [ ! -e /tmp/.starpu ]; then
	planted=yes
	mkdir folder
	chmod 777 folder
	other "os.symlink('$place/folder', '/tmp/.starpu')"
	STARPU_OPENCL_ON_CPUS=1 says 'compiled OpenCL programs have no place: set HOME' env -u HOME -u STARPU_HOME "$opencl"
	[ -z "$(find folder -type f)" ] || die "a compiled program was stored at another user's link"
	rm /tmp/.starpu

	# Those of his are not loaded, from there and from a folder of the run's user; those of one's own are nobody else's.
	cat > load.c <<'END'
#include <stdio.h>
#include <starpu.h>

int main(void)
{
	struct starpu_opencl_program program;

	if (starpu_init(NULL))
		return 77;
	puts(starpu_opencl_load_binary_opencl("scale.cl", &program) ? "not loaded" : "loaded");
	starpu_shutdown();
	return 0;
}
END
	export STARPU_OPENCL_ON_CPUS=1
	ok "$ORRERY" cc -o load load.c
	ok env -u STARPU_HOME HOME="$place/home" "$opencl"
	stored=$(echo home/.starpu/opencl/scale.cl.*)
	[ "$(stat -c %a home/.starpu/opencl "$stored" | tr '\n' ' ')" = '700 600 ' ] || die "modes: $(stat -c '%a %n' home/.starpu/opencl "$stored")"
	load() { says "$1" env -u STARPU_HOME HOME="$place/home" ./load; }
	load '^loaded'
	mkdir -p /tmp/.starpu/opencl
	cp "$stored" /tmp/.starpu/opencl/
	chown -R 65534 /tmp/.starpu
	says 'have no place: set HOME' env -u HOME -u STARPU_HOME ./load
	has out '^not loaded'
	rm -r /tmp/.starpu
	chown 65534 "$stored"
	load "is not loaded: it is another user's"
	has out '^not loaded'
	chown 0 "$stored"
	chown 65534 home/.starpu/opencl
	load "is no place for compiled OpenCL programs: it is another user's"
	has out '^not loaded'
	chown 0 home/.starpu/opencl
	planted=
fi

# The registry and its resource manager.
[ "$ORR_TEST_MPI" = yes ] || exit 0
cat > scene.py <<'END'
import os, socket, struct, subprocess, sys, time
address, port, key = os.environ["ORRERY_DYN_SERVER"].rsplit(":", 2)

def stranger():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    door = socket.create_connection((address, int(port)), timeout=5)
    door.sendall(b"\0\0")
    manager = socket.socket(socket.AF_UNIX)
    try:
        manager.connect("door")
        sys.exit("another user is taken for the resource manager")
    except PermissionError:
        pass
    text = b"hello\0" + b"0" * 32 + b"\0process\0000\0here\0001\0000\0"
    guess = socket.create_connection((address, int(port)), timeout=5)
    guess.sendall(struct.pack("!II", len(text), 0) + text)
    if guess.recv(100):
        sys.exit("another user is answered")
    with open("/proc/%d/environ" % os.getppid()) as stream:
        sys.exit("another user reads the key: %s" % stream.read())

child = os.fork()
if not child:
    try:
        stranger()
    except PermissionError:
        os._exit(0)
    os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
ORRERY_DYN_SIGNED=0 "$ORR_TEST_BUILDDIR/orrery-elastic" 1 2 unix:door "$PYTHON" scene.py 2> err
has err 'no process of the elastic run called MPI_Session_init' # its own command was content
exit 0
