/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the program's models: one for a list of devices and an implementation, as
 * starpu_perfmodel_get_model_per_devices hands it out.
 *
 * Invariant: parts are only added, so one that was handed out stays valid until the state of its
 * model ends. */
#ifndef ORR_PERF_MODEL_PART_H
#define ORR_PERF_MODEL_PART_H

#include "starpu_perfmodel.h"

struct orr_model_part {
	struct orr_model_part *next;
	int ndevices;
	struct starpu_perfmodel_device *devices;
	unsigned nimpl;
	struct starpu_perfmodel_per_arch pub;
};

/* The part of a state for these devices and this implementation. If there is none: NULL, or a new
 * part if make is not 0 (NULL if memory is exhausted). */
struct orr_model_part *orr_model_part(struct _starpu_perfmodel_state *s, int ndevices,
				      const struct starpu_perfmodel_device *devices, unsigned nimpl,
				      int make);
/* Frees a list of parts. */
void orr_model_part_free(struct orr_model_part *part);

#endif
