# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the command `orrery`, its Python modules, and the tools that
# have a known name of their own.
include %D%/sources.mk
bin_SCRIPTS += orrery $(orr_aliases) starpu_mpi_comm_matrix.py starpu_perfmodel_plot starpu_env
orrtoolsdir = $(pkgdatadir)/tools
dist_orrtools_DATA = $(orr_tools_python)
# What the page of `orrery report` is made of.
orrpagedir = $(orrtoolsdir)/report
dist_orrpage_DATA = $(orr_tools_page)
EXTRA_DIST += $(orr_tools_extra) tools/starpu_mpi_comm_matrix.py
CLEANFILES += starpu_mpi_comm_matrix.py starpu_perfmodel_plot starpu_env

# Other names of the command (tools/orrery_cli.py).
orr_aliases = orrery-sim-cc orrery-sim-c++ orrery-sim-fc starpu_config starpu_codelet_profile starpu_calibrate_bus \
	starpu_fxt_tool starpu_fxt_stats starpu_fxt_data_trace starpu_trace_state_stats.py \
	starpu_codelet_histo_profile starpu_workers_activity starpu_paje_state_stats starpu_paje_summary \
	starpu_paje_draw_histogram starpu_send_recv_data_use.py starpu_fxt_number_events_to_names.py \
	starpu_tasks_rec_complete starpu_perfmodel_recdump starpu_lp2paje
CLEANFILES += $(orr_aliases)
$(orr_aliases): orrery
	$(AM_V_GEN)ln -sf orrery $@

# The interpreter is the one that configure found matplotlib for.
starpu_mpi_comm_matrix.py: tools/starpu_mpi_comm_matrix.py Makefile
	$(AM_V_GEN)$(SED) -e '1s,.*,#!$(PYTHON),' -e 's,^TOOLS = .*,TOOLS = "$(orrtoolsdir)",' \
		$(srcdir)/tools/starpu_mpi_comm_matrix.py > $@.tmp && chmod +x $@.tmp && mv -f $@.tmp $@

starpu_perfmodel_plot: tools/starpu_perfmodel_plot.sh
	$(AM_V_GEN)cp $(srcdir)/tools/starpu_perfmodel_plot.sh $@ && chmod +x $@

starpu_env: tools/starpu_env.sh Makefile
	$(AM_V_GEN)$(SED) -e 's,[@]bindir[@],$(bindir),' $(srcdir)/tools/starpu_env.sh > $@.tmp && chmod +x $@.tmp && mv -f $@.tmp $@

# Programs: three with known names, and the measurements that `orrery calibrate` starts.
bin_PROGRAMS = starpu_machine_display starpu_perfmodel_display starpu_sched_display
starpu_machine_display_SOURCES = tools/machine_display.c
starpu_machine_display_CFLAGS = $(orr_program_cflags)
starpu_machine_display_LDFLAGS = $(orr_program_ldflags)
starpu_machine_display_LDADD = liborrery.la $(ORR_SYS_LIBS)
starpu_sched_display_SOURCES = tools/sched_display.c
starpu_sched_display_CFLAGS = $(orr_program_cflags)
starpu_sched_display_LDFLAGS = $(orr_program_ldflags)
starpu_sched_display_LDADD = liborrery.la $(ORR_SYS_LIBS)
starpu_perfmodel_display_SOURCES = tools/perfmodel_display.c
# It shows the inside of models.
starpu_perfmodel_display_CFLAGS = $(orr_program_cflags)
starpu_perfmodel_display_LDFLAGS = $(orr_program_ldflags)
starpu_perfmodel_display_LDADD = libcore.la $(HWLOC_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
pkglibexec_PROGRAMS += orrery-calibrate-node
orrery_calibrate_node_SOURCES = tools/calibrate_node.c
# It asks memory nodes for single copies.
orrery_calibrate_node_CFLAGS = $(orr_program_cflags)
orrery_calibrate_node_LDFLAGS = $(orr_program_ldflags)
orrery_calibrate_node_LDADD = libcore.la $(HWLOC_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
# The program that `orrery doctor` starts on each host.
pkglibexec_PROGRAMS += orrery-doctor-host
orrery_doctor_host_SOURCES = tools/doctor_host.c tools/doctor_facts.c tools/doctor_library.c tools/doctor_wire.c tools/doctor_host.h
orrery_doctor_host_CFLAGS = $(orr_program_cflags)
orrery_doctor_host_LDFLAGS = $(orr_program_ldflags) -Wl,--no-as-needed
orrery_doctor_host_LDADD = liborrery.la $(ORR_SYS_LIBS)
if ORR_MPI
pkglibexec_PROGRAMS += orrery-doctor-mpi
orrery_doctor_mpi_SOURCES = tools/doctor_mpi.c tools/doctor_library.c tools/doctor_host.h tools/patient.h
orrery_doctor_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
orrery_doctor_mpi_CFLAGS = $(orr_program_cflags)
orrery_doctor_mpi_LDFLAGS = $(orr_program_ldflags)
orrery_doctor_mpi_LDADD = liborrery-mpi.la liborrery.la $(MPI_LIBS) $(ORR_SYS_LIBS)
pkglibexec_PROGRAMS += orrery-calibrate-mpi
orrery_calibrate_mpi_SOURCES = tools/calibrate_mpi.c tools/patient.h
orrery_calibrate_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
orrery_calibrate_mpi_CFLAGS = $(orr_program_cflags)
orrery_calibrate_mpi_LDFLAGS = $(orr_program_ldflags)
orrery_calibrate_mpi_LDADD = liborrery-mpi.la liborrery.la $(MPI_LIBS) $(ORR_SYS_LIBS)
pkglibexec_PROGRAMS += orrery-calibrate-dyn
orrery_calibrate_dyn_SOURCES = tools/calibrate_dyn.c
orrery_calibrate_dyn_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
orrery_calibrate_dyn_CFLAGS = $(orr_program_cflags)
orrery_calibrate_dyn_LDFLAGS = $(orr_program_ldflags)
orrery_calibrate_dyn_LDADD = $(orr_dyn_ldadd) liborrery-mpi.la liborrery.la $(MPI_LIBS)
endif
