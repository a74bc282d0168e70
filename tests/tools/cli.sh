# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The command itself: help, version, unknown subcommands and options.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
ok "$ORRERY" --version
has out '^orrery [0-9]+\.[0-9]+\.[0-9]+ \(build\)$'
ok "$ORRERY" --help
for sub in cc run sim platform matrix; do
	has out "^  $sub "
	ok "$ORRERY" $sub --help
	has out "^usage: orrery $sub"
	ok "$ORRERY" help $sub
	ok "$ORRERY" --help
done
fails 2 "no subcommand 'fly'; there are: cc, fc, run, doctor, sim" "$ORRERY" fly
fails 2 'unknown option --bogus' "$ORRERY" run --bogus x
fails 2 'unknown option --bogus' "$ORRERY" sim --bogus x
fails 2 'unknown option --bogus' "$ORRERY" platform --bogus
fails 2 'unknown option --bogus' "$ORRERY" matrix --bogus
