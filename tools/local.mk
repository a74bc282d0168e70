# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the command `orrery`, its Python modules, and the tools that
# have a known name of their own.
include %D%/sources.mk
bin_SCRIPTS += orrery starpu_mpi_comm_matrix.py
orrtoolsdir = $(pkgdatadir)/tools
dist_orrtools_DATA = $(orr_tools_python)
EXTRA_DIST += $(orr_tools_extra) tools/starpu_mpi_comm_matrix.py
CLEANFILES += starpu_mpi_comm_matrix.py

# The interpreter is the one that configure found matplotlib for.
starpu_mpi_comm_matrix.py: tools/starpu_mpi_comm_matrix.py Makefile
	$(AM_V_GEN)$(SED) -e '1s,.*,#!$(PYTHON),' -e 's,^TOOLS = .*,TOOLS = "$(orrtoolsdir)",' \
		$(srcdir)/tools/starpu_mpi_comm_matrix.py > $@.tmp && chmod +x $@.tmp && mv -f $@.tmp $@
