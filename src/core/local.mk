# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the runtime core: context, configuration, tasks, dependencies, workers; the same sources serve both worlds.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_core)
liborrery_sim_la_SOURCES += $(orr_src_core)
