# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The pictures and tables of the architecture pages are up to date with their
# sources, every place that they and the pages name exists, and each floor, part of
# the message layer and pointer to a function is named (doc/pictures.py).
# Then the checker is shown a mistake of each kind, which it must find.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

ok "$PYTHON" -B "$ORR_TEST_SRCDIR/doc/pictures.py" --check

mkdir house
cd "$ORR_TEST_SRCDIR" || die "there is no source tree"
tar cf - CONTRIBUTING.md build-aux/floors build-aux/floors.table doc src sim include \
	| (cd "$ORR_TEST_TMP/house" && tar xf -)
cd "$ORR_TEST_TMP/house" || die "there is no copy"
chmod -R u+w .
check="$PYTHON -B doc/pictures.py --check"
ok $check

# finds REGEX FILE SED-EXPRESSION: with FILE changed so, the check says REGEX.
finds() {
	cp "$2" kept
	sed "$3" kept > "$2"
	cmp -s kept "$2" && die "$2 has nothing that '$3' changes"
	fails 1 "$1" $check
	mv kept "$2"
}

# The code changed, the pictures did not.
finds 'src/core/run/worker_step.c does not define begin_task' src/core/run/worker_step.c 's/\bbegin_task\b/start_task/'
finds 'src/data/datum/datum.h does not define orr_data_ext.parked' src/data/datum/datum.h 's/\*parked,$/*waiting,/'
finds 'ORR_TASK_STUCK of enum orr_task_state has no state' src/core/task/task.h 's/^	ORR_TASK_READY,/&\n	ORR_TASK_STUCK,/'
finds 'ORR_MPI_READY is in none of the enums' src/mpi/carry/request_record.h 's/ORR_MPI_READY/ORR_MPI_SOON/'
finds 'architecture-locks.md is out of date' src/base/lockrank.h 's/"the successors of a task/"the followers of a task/'
finds 'floors.svg is out of date' build-aux/floors.table 's,^\(src/sched: .*\) src/core$,\1,'

# The pictures changed, or the page.
finds 'there is no src/core/nowhere.c' doc/pictures/task.txt 's/task_submit.c:submit/nowhere.c:submit/'
finds 'task.svg is out of date' doc/pictures/task.txt 's/^state new 0 0 New/state new 0 0 Newborn/'
finds 'task.svg is out of date' doc/pictures/task.svg 's/Blocked/Bocked/'
finds 'architecture-lives.md is out of date' doc/architecture-lives.md 's/ORR_TASK_BLOCKED/ORR_TASK_READY/'
finds 'does not define no_such_function' doc/architecture-glossary.md 's/c:group_sleep`/c:no_such_function`/'
finds 'the code does not know orr_no_such' doc/architecture.md 's/`orr_self()`/`orr_no_such()`/'
finds 'has no place for "locks"' doc/architecture-locks.md 's/<!-- locks:/<!-- lox:/'
finds 'expected title, folder, enum' doc/pictures/task.txt 's/^state new/sate new/'
finds 'there is no party launchpad' doc/pictures/simulated.txt 's/^step launcher simgrid runs/step launchpad simgrid runs/'
finds 'sim_turns.c does not define stack_lent' doc/pictures/simulated.txt 's/stack_lend/stack_lent/'
finds 'networks.svg is out of date' doc/pictures/networks.txt 's/^message B 4 200/message B 4 100/'
finds '6 numbers for 7 columns' doc/pictures/trees.txt 's/^row 4 1.000/row 4/'
finds 'has no table of predictions' doc/fidelity.md 's/^    \(cholesky\|lu\|stencil\) /\1 /'
finds 'has a line of hosts that is not understood: lu' doc/fidelity.md 's/^\(    lu .* Mbit.*[0-9.]\)$/\1 %/'
finds 'has no table of hosts' doc/fidelity.md 's/^    \(graph  *size\)/\1/'
finds 'hosts.svg is out of date' doc/fidelity.md 's/^\(    cholesky .* Mbit.*\)[-+][0-9.]*$/\1 +33.3/'
finds 'no page of doc shows this picture' doc/simulating.md 's/(pictures.networks.svg)/(pictures\/other.svg)/'

# A new way up, or a new part, that no page names.
finds 'src/base/park.h: orr_park_ops_new.wake points to a function' src/base/park.h 's/^struct orr_park_ops {/struct orr_park_ops_new {\n	void (*wake)(int);\n};\n&/'
finds 'src/mpi/carry/layer.h: orr_mpi_guests.refollow points to a function' src/mpi/carry/layer.h 's/^	void (\*unfollow).*/	void (*refollow)(struct orr_mpi *mpi);\n&/'
finds 'orr_group.lent points to a function' src/core/worker/worker_record.h 's/^	void (\*rung)(/	starpu_malloc_hook lent;\n&/'
finds 'sim_mpi.h: orr_sim_extra points to a function' sim/sys/net/sim_mpi.h 's/^extern void (\*orr_sim_mpi_route).*/&\nextern int (*orr_sim_extra)(int);/'
finds 'orr_mpi_guests.unfollow is no pointer to a function' src/mpi/carry/layer.h 's/^	void (\*unfollow).*/	int unfollow;\n	int rest(struct orr_mpi *mpi, struct orr_mpi_ext *ext);/'
finds 'resize.c has none of orr_mpi_guests, unfollow' src/mpi/run/resize.c 's/\bunfollow\b/unlink/g'
finds 'nothing is said about the part "omens"' src/mpi/run/parts.c 's/^	{ .name = "waiting",/	{ .name = "omens", .end = end_waiting },\n&/'
finds 'has no part "waiting"' src/mpi/run/parts.c 's/\.name = "waiting"/.name = "idling"/'
finds 'nothing is said about src/attic' build-aux/floors.table '/^src\/mpi/i src/attic: src/base'

# What is out of date is written again, to the same bytes.
cp -R doc doc.before
rm doc/pictures/datum.svg
sed -i 's/^| Blocked |/| Stuck |/' doc/architecture-lives.md
ok "$PYTHON" -B doc/pictures.py
ok $check
ok diff -r doc.before doc
exit 0
