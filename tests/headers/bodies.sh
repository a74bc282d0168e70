#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# No public function does nothing but those that bodies.txt gives a reason for, and the
# check finds bodies of each form that does nothing.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
src=$ORR_TEST_SRCDIR
check() { "${PYTHON:-python3}" -B "$src/tests/headers/bodies.py" "$src" "$@"; }
ok check

cat > empty.c <<'END'
int starpu_init(struct starpu_conf *conf)
{
	(void) conf; /* later */
	return 0;
}
void starpu_shutdown(void) {}
struct starpu_task *starpu_task_create(void)
{
	return NULL;
}
int starpu_task_submit(struct starpu_task *task)
{
	return submit(task);
}
static int starpu_task_wait(struct starpu_task *task)
{
	return 0;
}
END
check empty.c > out && die "the check finds nothing in empty.c"
for name in starpu_init starpu_shutdown starpu_task_create; do
	has out "$name\(\) does nothing"
done
[ "$(wc -l < out)" = 3 ] || { cat out; die "the check finds more than there is"; }
