# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every command line of the README and the manual runs, and prints what the page says (manual.py, which
# lists the few that run elsewhere); what takes long does with ORR_MANUAL=all (`make check-long`).
# A document whose command or output is wrong, or whose block nobody knows, is found.
# orr-test: timeout 600
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || skip "the manual has both worlds"
"$PYTHON" -c 'import matplotlib' 2> err || skip "no matplotlib"
manual() { "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/manual.py" "$@"; }

# One that is wrong in each way.
mkdir -p wrong/doc wrong/tests/tools
cp "$ORR_TEST_SRCDIR/tests/tools/manual_app.c" wrong/tests/tools
cat > wrong/README.md << 'END'
A command that fails:

    orrery matrix absent.csv

What is not printed:

    $ orrery sim -n 2 app.sim
    2 of 3 ranks have added to the token

What nobody knows:

    hocus pocus
END
manual wrong "$ORR_TEST_BUILDDIR" README.md > out 2>&1 && { cat out; die "faults of a document are not found"; }
has out '^fault: README.md:3: status [0-9]+ of: orrery matrix'
has out '^fault: README.md:7: status [0-9]+ of: orrery sim|^fault: README.md:7: nothing printed: # of # ranks'
has out '^fault: README.md:12: .*hocus pocus'

manual "$ORR_TEST_SRCDIR" "$ORR_TEST_BUILDDIR"
