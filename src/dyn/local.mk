# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of process sets that grow and shrink. In the real world they are a library of their own, which does
# not need the task runtime, and a program with the registry; in the simulated one, a part of its library.
include %D%/sources.mk
liborrery_dyn_la_SOURCES += $(orr_src_dyn) $(orr_src_sys_dyn) src/base/checksum.c src/base/private.c
liborrery_sim_la_SOURCES += $(orr_src_dyn)
if ORR_MPI
pkglibexec_PROGRAMS += orrery-elastic
endif
# The registry, without the process around it.
orr_registry = tools/elastic_stream.c tools/elastic_stream.h tools/elastic_peers.c tools/elastic_peers.h \
	tools/elastic_manager.c tools/elastic_manager.h tools/elastic_door.c tools/elastic_door.h \
	src/base/checksum.c src/base/private.c %D%/answers.c %D%/dyn_calls.c %D%/change.c %D%/collective.c %D%/demand.c %D%/journal.c %D%/links.c %D%/registry.c %D%/requests.c %D%/room.c %D%/script.c %D%/sets.c %D%/words.c
orrery_elastic_SOURCES = tools/elastic.c src/sys/dyn_assert.c $(orr_registry)
orrery_elastic_CFLAGS = $(orr_program_cflags)
orrery_elastic_LDFLAGS = $(orr_program_ldflags)
orrery_elastic_CPPFLAGS = $(orr_defines) $(orr_real_includes)
