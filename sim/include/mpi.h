/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MPI as a program for the simulated world sees it: SMPI's, with handles that are constants.
 *
 * MPI wants predefined handles to be usable as initialisers of variables with static storage:
 *     static MPI_Comm comm = MPI_COMM_WORLD;
 * In SMPI, MPI_COMM_WORLD is a variable and MPI_COMM_SELF a call. Here both are addresses that the
 * loader fills in for each rank when it loads the rank's copy of the program (handles.c of the
 * launcher). All other predefined handles of SMPI are constants already.
 *
 * SimGrid's headers define many macros of their own, and include headers of the C library that
 * declare common names. MPI defines neither, so a program may use these names as it likes: its
 * features of the C library are settled before, unistd.h is left out, and the macros are removed. A
 * program that wants SimGrid's includes <smpi/smpi.h> before this header, and gets all of them.
 *
 * Invariant: a handle is the same object as SMPI's of that name, in the program's main thread; no
 * macro stays that neither MPI nor the language defines, except for those of reserved names and
 * SMPI_PREDEFINED_POINTER, of which MPI's own constants are made. */
#ifndef ORRERY_SIM_MPI_H
#define ORRERY_SIM_MPI_H
#pragma GCC system_header

#include <stddef.h>
#if __has_include(<features.h>)
#include <features.h> /* what the program has asked of the C library counts, not what SimGrid asks */
#endif

#ifndef SMPI_H
#ifndef _GNU_SOURCE
#define ORRERY_SIM_HIDE_GNU
#endif
#define SMPI_HELPERS_INTERNAL_H
#if !defined __cplusplus && !defined _UNISTD_H
#define _UNISTD_H
#define ORRERY_SIM_HIDE_UNISTD
#endif
#include <smpi/smpi.h>
#ifdef ORRERY_SIM_HIDE_UNISTD
#undef _UNISTD_H
#undef ORRERY_SIM_HIDE_UNISTD
#endif
#ifdef ORRERY_SIM_HIDE_GNU
#undef _GNU_SOURCE
#undef ORRERY_SIM_HIDE_GNU
#endif
#undef SMPI_HELPERS_INTERNAL_H
#undef MPIO_Request
#undef FOREACH_ERROR
#undef GENERATE_ENUM
#undef GENERATE_STRING
#undef MPI_CALL
#undef SMPI_CTAG_NAME
#undef SMPI_CTAG_NAME1
#undef SMPI_ITER_NAME
#undef SMPI_ITER_NAME1
#undef SMPI_PARTIAL_SHARED_MALLOC
#undef SMPI_SAMPLE_DELAY
#undef SMPI_SAMPLE_FLOPS
#undef SMPI_SAMPLE_GLOBAL
#undef SMPI_SAMPLE_GLOBAL_TAG
#undef SMPI_SAMPLE_LOCAL
#undef SMPI_SAMPLE_LOCAL_TAG
#undef SMPI_SAMPLE_LOOP
#undef SMPI_SHARED_CALL
#undef SMPI_SHARED_FREE
#undef SMPI_SHARED_MALLOC
#undef SG_BEGIN_DECL
#undef SG_END_DECL
#undef SIMGRID_HAVE_MSG
#undef SIMGRID_HAVE_MALLOCATOR
#undef SIMGRID_HAVE_MC
#undef SIMGRID_HAVE_NS3
#undef SIMGRID_HAVE_EIGEN3
#undef NS3_MINOR_VERSION
#undef XBT_ALWAYS_INLINE
#undef XBT_ATTRIB_CONSTRUCTOR
#undef XBT_ATTRIB_DEPRECATED
#undef XBT_ATTRIB_DEPRECATED_v333
#undef XBT_ATTRIB_DEPRECATED_v334
#undef XBT_ATTRIB_DEPRECATED_v335
#undef XBT_ATTRIB_DEPRECATED_v336
#undef XBT_ATTRIB_DEPRECATED_v401
#undef XBT_ATTRIB_DEPRECATED_v402
#undef XBT_ATTRIB_DEPRECATED_v403
#undef XBT_ATTRIB_DESTRUCTOR
#undef XBT_ATTRIB_NOINLINE
#undef XBT_ATTRIB_NORETURN
#undef XBT_ATTRIB_PRINTF
#undef XBT_ATTRIB_SCANF
#undef XBT_ATTRIB_UNUSED
#undef XBT_EXPORT_NO_IMPORT
#undef XBT_IMPORT_NO_EXPORT
#undef XBT_PRIVATE
#undef XBT_PUBLIC
#undef XBT_PUBLIC_DATA
#undef XBT_FREE_NOEXCEPT
/* SimGrid's other headers get these macros again. */
#undef XBT_BASE_H
#undef SIMGRID_PUBLIC_CONFIG_H
#endif /* SMPI_H */
#ifndef MPI_H
#define MPI_H
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern char orrery_sim_comm_world[], orrery_sim_comm_self[], orrery_sim_info_env[];

#ifdef __cplusplus
}
#define ORRERY_SIM_HANDLE(type, name) (reinterpret_cast<type>(name))
#else
#define ORRERY_SIM_HANDLE(type, name) ((type) (void *) (name))
#endif

#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD ORRERY_SIM_HANDLE(MPI_Comm, orrery_sim_comm_world)
#undef MPI_COMM_SELF
#define MPI_COMM_SELF ORRERY_SIM_HANDLE(MPI_Comm, orrery_sim_comm_self)
#undef MPI_INFO_ENV
#define MPI_INFO_ENV ORRERY_SIM_HANDLE(MPI_Info, orrery_sim_info_env)

#endif
