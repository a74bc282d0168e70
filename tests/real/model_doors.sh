# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The folder of performance models: what is made there is the user's, as the user's mask says; nothing is written through
# a link; and another user who locks what he can open does not stop the end of a run.
# orr-test: timeout 120
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/real/model_doors
export STARPU_NCPU=1 STARPU_CALIBRATE=1 STARPU_HOME=$PWD/home
folder=home/.starpu/sampling
mkdir home
# complains REGEX: a run comes to its end, soon, and says that.
complains() {
	timeout 60 "$program" > out 2> err
	[ $? != 124 ] || die "the run does not end"
	has err "$1"
}
umask 077
ok "$program"
[ "$(stat -c %a home/.starpu $folder/codelets | tr '\n' ' ')" = '700 700 ' ] || die "modes of folders: $(stat -c '%a %n' home/.starpu $folder/codelets)"
[ "$(stat -c %a $folder/codelets/45/doors.*)" = 600 ] || die "mode of a model: $(stat -c %a $folder/codelets/45/doors.*)"
[ "$(stat -c %a $folder/.lock)" = 600 ] || die "mode of the lock: $(stat -c %a $folder/.lock)"
umask 022

# A lock from before, which everybody could open.
chmod 644 $folder/.lock
ok "$program"
[ "$(stat -c %a $folder/.lock)" = 600 ] || die "mode of an old lock: $(stat -c %a $folder/.lock)"

echo precious > victim
rm $folder/.lock
ln -s "$PWD/victim" $folder/.lock
complains "the performance model cannot be written: the lock of the place is a link"
[ "$(cat victim)" = precious ] || die "a victim's file was overwritten"
rm $folder/.lock

# Somebody else holds it.
command -v "$PYTHON" > /dev/null || exit 0
"$PYTHON" - $folder/.lock <<'END' &
import fcntl, sys, time
stream = open(sys.argv[1], "w")
fcntl.lockf(stream, fcntl.LOCK_EX)
open("ready", "w").close()
time.sleep(90)
END
holder=$!
for i in $(seq 100); do [ -e ready ] || sleep 0.1; done
[ -e ready ] || die "the lock is not held"
complains "somebody holds the lock of the place"
kill $holder
wait $holder 2> /dev/null

[ "$(id -u)" = 0 ] || exit 0
rm -rf home/.starpu
mkdir -p $folder/codelets/45
chown -R 65534 home/.starpu
chmod 777 $folder/codelets/45
complains "the folder is another user's, and everybody may write there"
exit 0
