# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Python 3 that runs the `orrery` command: the first of $PYTHON, the one in
# PATH and the system's that has matplotlib (for `orrery matrix`), otherwise the
# first that works at all.

AC_DEFUN([ORR_PYTHON], [
AC_ARG_VAR([PYTHON], [the Python 3 interpreter to use])
orr_matplotlib=no
orr_python=
orr_path_python=`command -v python3`
AC_MSG_CHECKING([for a Python 3 with matplotlib])
for orr_candidate in "$PYTHON" "$orr_path_python" /usr/bin/python3 /usr/local/bin/python3; do
	AS_IF([test -n "$orr_candidate" && "$orr_candidate" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null], [
		test -n "$orr_python" || orr_python=$orr_candidate
		AS_IF([(cd / && "$orr_candidate" -c 'import matplotlib') >/dev/null 2>&1],
			[orr_python=$orr_candidate
			 orr_matplotlib=yes
			 break])])
done
AC_MSG_RESULT([$orr_matplotlib (${orr_python:-no Python 3})])
PYTHON=$orr_python
AS_IF([test -z "$PYTHON"],
	[AC_MSG_WARN([no Python 3: the command orrery needs one to run (Debian: python3)])
	 PYTHON=/usr/bin/python3])
AC_SUBST([PYTHON])
AC_SUBST([orr_matplotlib])
])
