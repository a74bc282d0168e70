/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views of partitioned data: the checks that come before a submission or an acquisition.
 *
 * Invariant: busy_partition of a handle describes the views as of the tasks submitted so far. */
#ifndef ORR_DATA_FILTERS_VIEWS_H
#define ORR_DATA_FILTERS_VIEWS_H

#include "data/partition.h"

/* Call this before an access if h->busy_partition is not 0: submits the switches between views that
 * the access needs. task is the name of the task, NULL for an acquisition. Returns 0, or -EINVAL
 * after a message. */
int orr_handle_check_partition(starpu_data_handle_t h, enum starpu_data_access_mode mode,
			       const char *task);
/* After that, for each of several accesses of one task: their views must not exclude each other.
 * i: the number of the datum, for the message. Returns 0, or -EINVAL after a message. */
int orr_partition_check_view(starpu_data_handle_t h, enum starpu_data_access_mode mode,
			     const char *task, unsigned i);
/* May the program unregister h? Returns 0, or -EINVAL after a message. */
int orr_partition_check_unregister(starpu_data_handle_t h);

/* Changes of the state, with the switches that they need. They return 0, or
 * -EINVAL after a message that begins with what the access is for (who), with nothing of p changed.
 */
int orr_partition_activate(struct orr_partition *p, enum orr_view view, const char *who,
			   const struct orr_switch_options *o);
/* READ keeps the pieces readable; NONE takes them away. Pieces that are cut themselves come first.
 */
int orr_partition_deactivate(struct orr_partition *p, enum orr_view down_to, const char *who,
			     const struct orr_switch_options *o);
/* Makes h, a piece or not, usable as a whole for reading or writing. */
int orr_partition_prepare(starpu_data_handle_t h, int write, const char *who);
/* Another plan of the same father whose view excludes this one, or NULL. */
struct orr_partition *orr_partition_rival(const struct orr_partition *p, enum orr_view view);

#endif
