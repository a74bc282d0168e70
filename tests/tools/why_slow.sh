# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The pictures of doc/why-slow.md, and what the page prints of its runs, are those of today's runs (doc/why_slow.py): in a
# copy, from the commands of the page. One picture is made anew. Then the check is shown a picture and a page that are out
# of date.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "built without SimGrid"

mkdir doc
cp "$ORR_TEST_SRCDIR"/doc/why* doc
chmod -R u+w doc
script="$PYTHON -B doc/why_slow.py --build $ORR_TEST_BUILDDIR"
ok $script --check
for name in network submission device; do
	picture=doc/why-slow-$name.svg
	ok "$PYTHON" -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' $picture
	[ "$(wc -c < $picture)" -lt 100000 ] || die "$picture is large"
	has "$ORR_TEST_SRCDIR/doc/why-slow.md" "]\\(why-slow-$name.svg\\)"
done
one="$script --only why-slow-submission.svg"
rm doc/why-slow-submission.svg
fails 1 'why-slow-submission.svg is not there' $one --check
ok $one
[ "$(wc -c < doc/why-slow-submission.svg)" -lt 100000 ] || die "the picture is large"
for words in 'critical path:' 'program submits' 'workers compute'; do has doc/why-slow-submission.svg "$words"; done
ok $one --check
sed -i 's/<desc>seconds: ./&9/' doc/why-slow-submission.svg
sed -i 's/\( tile=128 .*time_s=\)0/\19/' doc/why-slow.md
fails 1 'why-slow-submission.svg shows runs of' $one --check
has err 'why-slow.md says that runs take'
