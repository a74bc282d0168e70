# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The documents agree with the tree (docs.py), the program in them does what they
# say, and the HTML manual is generated without a warning where Sphinx is there.
# Each check is also shown a mistake, which it must find.
# orr-test: timeout 240
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
src=$ORR_TEST_SRCDIR
check() { "${PYTHON:-python3}" -B "$src/tests/tools/docs.py" "$src" "$@"; }
ok check

# finds REGEX FILE SED-EXPRESSION: with FILE changed so, the check says REGEX.
finds() {
	sed "$3" "$src/$2" > changed
	cmp -s changed "$src/$2" && die "$2 has nothing that '$3' changes"
	check "$2=changed" > out && die "the check accepts $2 after '$3'"
	has out "$1"
}
finds '^README.md:[0-9]+: the link to doc/nowhere.md leads nowhere' README.md 's,(doc/limits.md),(doc/nowhere.md),'
finds '^doc/running.md:[0-9]+: doc/mpi.md has no heading for #progression' doc/mpi.md 's/^## Progression/## Progress/'
finds '^doc/limits.md:[0-9]+: there is no examples/gone in the tree' doc/limits.md 's,^## Numbers,`examples/gone`,'
finds 'STARPU_NCPU is read by the sources and missing' doc/environment.md '/^| `STARPU_NCPU` /d'
finds 'STARPU_NCPUX is listed and read nowhere' doc/environment.md 's/`STARPU_NCPU`/`STARPU_NCPUX`/'
finds 'STARPU_SCHED is listed without effect, but it is read' doc/environment.md 's/`STARPU_FXT_EVENTS`/`STARPU_SCHED`/'
finds 'STARPU_NOTHING is set here, but' doc/mpi.md 's/`STARPU_MPI_COMM=1`/`STARPU_NOTHING=1`/'
finds 'no header declares starpu_data_evaporate' doc/data.md 's/starpu_data_print()/starpu_data_evaporate()/'
finds 'starpu_tree.h is not included by starpu.h, and not named' doc/from-starpu.md 's/`starpu_tree.h`, //'
finds 'starpu_task.h is included by starpu.h' doc/from-starpu.md 's/`starpu_tree.h`/&, `starpu_task.h`/'
finds 'starpu_tree.h: it exists' doc/from-starpu.md 's/`starpu_openmp.h`/`starpu_openmp.h`, `starpu_tree.h`/'
finds 'orrery run has no option --reprot' README.md 's/`orrery run`/`orrery run --reprot x .\/app`/'
finds 'there is no subcommand orrery matrices' README.md 's/^orrery matrix/orrery matrices/'
finds 'ORR_TASK_RUNNING to ORR_TASK_ENDED is drawn' src/core/task/task_life.c 's/^.*ORR_TASK_RUNNING. = .*$/\t[ORR_TASK_RUNNING] = BIT(ORR_TASK_AGAIN),/'
finds 'ORR_TASK_BLOCKED to ORR_TASK_RUNNING is allowed' src/core/task/task_life.c 's/BIT(ORR_TASK_READY),/BIT(ORR_TASK_READY) | BIT(ORR_TASK_RUNNING),/'
finds 'there is no push_elsewhere in the room' src/core/flow/README.md 's/`push_local`/`push_elsewhere`/'
finds '^README.md:1: its C program' README.md 's/v\[i\] \*= factor/v[i] += factor/'

# The first program, as the reader would copy it.
sed -n '/^```c$/,/^```$/p' "$src/doc/getting-started.md" | sed '1d;$d' > scale.c
ok "$ORRERY" cc -Wall -Werror scale.c -o scale
ok ./scale
has out '^3 6 9 12$'
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" cc --sim -Wall -Werror scale.c -o scale.sim
	ok "$ORRERY" sim scale.sim
	has out '^3 6 9 12$'
fi

[ -n "${SPHINX_BUILD-}" ] || { echo "no Sphinx with MyST: the HTML manual was not generated"; exit 0; }
# A copy, of which only what has changed is read again below.
cp -R "$src/doc" doc
chmod -R u+w doc
html() { "$SPHINX_BUILD" -q -W --keep-going -n -c doc/sphinx -b html doc html; }
ok html
[ ! -s err ] || { cat err; die "Sphinx has something to say"; }
for page in index README search genindex environment limits; do
	[ -s html/$page.html ] || die "there is no page $page"
done
has html/index.html 'url=README.html'
for name in STARPU_NCPU --noise starpu_data_acquire 'combined worker' 'orrery sim' 'lws \(scheduling policy\)' 'eager threshold' \
	'threads per rank' Slurm 'batch jobs' debuggers heatmaps 'speed-up' deadlock oversubscription; do
	has html/genindex.html "[> ]$name<"
done
has html/searchindex.js 'starpu_ncpu'
has html/search.html 'searchtools.js'
[ -s html/_static/searchtools.js ] || die "the search has no program"
has html/environment.html 'href="running.html#starting-and-stopping-the-runtime"'

# A link that dangles, and a chapter that the index does not name.
echo '[x](nowhere.md)' >> doc/mpi.md
html > out 2> err && die "Sphinx accepts a link that dangles"
has err 'nowhere'
cp "$src/doc/mpi.md" doc/mpi.md
sed -i '/(mpi.md)/d' doc/README.md
html > out 2> err && die "Sphinx accepts a chapter that the index lacks"
has err 'mpi.md'
