/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of liborrery-mpi to the inside of liborrery. Each library hides its internal names, and
 * what keeps state must exist once; so one exported function of liborrery returns a table of the
 * internal functions that src/mpi calls. mpi_core.c makes functions of the same names out of the
 * table, so that src/mpi is the same text in both worlds. Functions without state are compiled into
 * both libraries instead (src/sys/local.mk).
 *
 * Invariant: the two libraries come from one build: nobody gets the table without the proof. */
#ifndef ORR_BRIDGE_CORE_TABLE_H
#define ORR_BRIDGE_CORE_TABLE_H

#include "base/about.h"
#include "base/link.h"
#include "base/output.h"
#include "base/seam.h"
#include "base/seam_memory.h"
#include "base/config.h"
#include "core/worker/core.h"
#include "core/task/graph.h"
#include "core/flow/insert.h"
#include "core/run/lend.h"
#include "core/worker/poll_hook.h"
#include "core/task/task.h"
#include "core/task/task_count.h"
#include "core/task/times.h"
#include "core/front/statistics.h"
#include "core/front/work.h"
#include "core/worker/worker.h"
#include "data/access.h"
#include "data/data.h"
#include "data/handle.h"
#include "data/handle_contents.h"
#include "data/handle_trace.h"
#include "data/room.h"
#include "trace/trace.h"

/* The functions. Where src/mpi needs another one, the linker names it: it gets a line here and a
 * function in mpi_core.c. */
#define ORR_CORE_TABLE(F) \
	F(orr_sys_lock_slow) \
	F(orr_sys_unlock_slow) \
	F(orr_waitq_wait) \
	F(orr_waitq_wake_slow) \
	F(orr_sys_now_us) \
	F(orr_sys_origin_us) \
	F(orr_sys_sleep_us) \
	F(orr_sys_spin_us) \
	F(orr_sys_cores) \
	F(orr_sys_only_threads) \
	F(orr_sys_stall_us) \
	F(orr_sys_live_layer) \
	F(orr_real_live) \
	F(orr_sys_has_payload) \
	F(orr_sys_copy_start) \
	F(orr_sys_memcpy) \
	F(orr_sys_chunk_alloc) \
	F(orr_sys_chunk_free) \
	F(orr_sys_thread_start) \
	F(orr_sys_thread_join) \
	F(orr_sys_yield) \
	F(orr_sys_abort) \
	F(orr_real_on_abort) \
	F(orr_acquire_start) \
	F(orr_acquire_release) \
	F(orr_acquire_share) \
	F(orr_access_comes_after) \
	F(orr_handle_name) \
	F(orr_handle_record_slow) \
	F(orr_handle_device_with_value) \
	F(orr_handle_pack) \
	F(orr_handle_unpack) \
	F(orr_memory_has_room) \
	F(orr_poll_hook_set) \
	F(orr_times_foreign) \
	F(orr_lend_begin) \
	F(orr_lend_end) \
	F(orr_lend_run) \
	F(orr_lend_sleeps) \
	F(orr_lend_wakes) \
	F(orr_worker_engine_unit) \
	F(orr_task_insert_parse) \
	F(orr_marker_skip) \
	F(orr_task_insert_list) \
	F(orr_marker_elements) \
	F(orr_task_npending) \
	F(orr_task_ncompleted) \
	F(orr_work_tell) \
	F(orr_statistics_add) \
	F(orr_sys_run_describe) \
	F(orr_real_run_own) \
	F(orr_real_run_all) \
	F(orr_graph_message) \
	F(orr_trace_add_now) \
	F(orr_trace_clock) \
	F(orr_trace_place) \
	F(orr_trace_waited) \
	F(orr_config_long) \
	F(orr_output_prepare) \
	F(orr_output_open) \
	F(orr_output_close) \
	F(orr_link_register) \
	F(orr_slab_foreach)

struct orrery_core {
	struct orr_process *process;
	struct orr_thread *(*thread)(void); /* the calling one */
#define F(name) __typeof__(name) *name;
	ORR_CORE_TABLE(F)
#undef F
};

/* The mark by which two libraries know that they are of one build. */
struct orrery_build {
	char version[16];
	size_t debug;       /* ORR_DEBUG */
	size_t layouts[10]; /* sizes of the structures that both know */
};

/* The build that the calling library comes from. */
static inline struct orrery_build orr_build_here(void)
{
#ifdef ORR_DEBUG
	const size_t debug = 1;
#else
	const size_t debug = 0;
#endif
	return (struct orrery_build){
		.version = PACKAGE_VERSION,
		.debug = debug,
		.layouts = { sizeof(struct orrery_core), sizeof(struct orr_process),
			     sizeof(struct orr_thread), sizeof(struct orr_core),
			     sizeof(struct orr_task), sizeof(struct orr_acquire),
			     sizeof(struct _starpu_data_state), sizeof(struct orr_data_ext),
			     sizeof(struct orr_data), sizeof(struct starpu_task) },
	};
}

/* The table, for a library of the same build; NULL after a message. Exported for liborrery-mpi, not
 * for programs. `size` is that of *build. */
__attribute__((visibility("default"))) const struct orrery_core *orrery_core_interface(
	const struct orrery_build *build, size_t size);

#endif
