# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The generator of the HTML manual (`make html`): Sphinx with MyST, which reads
# the plain files of doc/. Found means tried: a page is generated.

AC_DEFUN([ORR_SPHINX], [
AC_ARG_VAR([SPHINX_BUILD], [the sphinx-build to generate the HTML manual with])
AC_PATH_PROGS([SPHINX_BUILD], [sphinx-build sphinx-build-3])
orr_sphinx=no
AS_IF([test -n "$SPHINX_BUILD"], [
	AC_MSG_CHECKING([whether $SPHINX_BUILD reads Markdown (MyST)])
	rm -rf conftest.dir && mkdir conftest.dir
	echo '# Heading' > conftest.dir/index.md
	AS_IF(["$SPHINX_BUILD" -q -W -C -D extensions=myst_parser -D root_doc=index -b dummy conftest.dir conftest.dir/out >&AS_MESSAGE_LOG_FD 2>&1],
		[orr_sphinx=yes],
		[SPHINX_BUILD=])
	rm -rf conftest.dir
	AC_MSG_RESULT([$orr_sphinx])])
AM_CONDITIONAL([ORR_SPHINX], [test $orr_sphinx = yes])
])
