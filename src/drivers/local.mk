# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of device drivers behind one ops struct; the same sources serve both worlds.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_drivers)
liborrery_sim_la_SOURCES += $(orr_src_drivers)
if ORR_CUDA
liborrery_la_SOURCES += $(orr_src_drivers_cuda)
liborrery_sim_la_SOURCES += $(orr_src_drivers_cuda)
EXTRA_DIST += %D%/cuda_none.c
else
liborrery_la_SOURCES += %D%/cuda_none.c
liborrery_sim_la_SOURCES += %D%/cuda_none.c
EXTRA_DIST += $(orr_src_drivers_cuda)
endif
if ORR_OPENCL
liborrery_la_SOURCES += $(orr_src_drivers_opencl)
liborrery_sim_la_SOURCES += $(orr_src_drivers_opencl)
EXTRA_DIST += %D%/opencl_none.c
else
liborrery_la_SOURCES += %D%/opencl_none.c
liborrery_sim_la_SOURCES += %D%/opencl_none.c
EXTRA_DIST += $(orr_src_drivers_opencl)
endif
