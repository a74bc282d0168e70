# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the public headers; starpu_config.h is made by configure.
# They are installed in a folder of their own, so that they can live beside
# another implementation of the same interface; pkg-config and `orrery cc` know it.
include %D%/sources.mk
orrincludedir = $(includedir)/orrery
dist_orrinclude_HEADERS = $(orr_headers)
orrschedincludedir = $(orrincludedir)/schedulers
dist_orrschedinclude_HEADERS = $(orr_sched_headers)
nodist_orrinclude_HEADERS = include/starpu_config.h
# What a program for the simulated world is rebuilt for; it does not care for a
# new library, only for there being one.
orr_headers_dep = $(orr_headers) $(orr_sched_headers) include/starpu_config.h
orr_sim_order = orrery liborrery-sim.la orrery-sim-start.o
