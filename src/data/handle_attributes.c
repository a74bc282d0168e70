/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of data that the program sets and asks for: name, coordinates, flags, interface.
 *
 * Invariant: an attribute that few data have takes no memory in the others (struct orr_data_ext).
 */
#include "data/handle_attributes.h"
#include "data/data.h"
#include "data/handle_trace.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct orr_data_ext *orr_handle_ext(starpu_data_handle_t h)
{
	orr_assert_locked(&h->lock);
	/* Written under the handle's lock, and read without it when tasks end. */
	if (!h->ext)
		ORR_ATOMIC_STORE(&h->ext, calloc(1, sizeof(*h->ext)));
	return h->ext;
}

/* The attributes for a setter that has no way to fail. */
static struct orr_data_ext *ext_or_die(starpu_data_handle_t h, const char *what)
{
	orr_handle_must_be_known(h, what);
	orr_lock(&h->lock);
	struct orr_data_ext *ext = orr_handle_ext(h);
	orr_handle_unlock(h);
	if (!ext)
		orr_fatal("out of memory while setting an attribute of %s", orr_handle_name(h));
	return ext;
}

void starpu_data_set_name(starpu_data_handle_t handle, const char *name)
{
	struct orr_data_ext *ext = ext_or_die(handle, __func__);

	free(ext->name);
	ext->name = name ? strdup(name) : NULL;
	orr_handle_record(handle, 0);
}

void starpu_data_set_coordinates_array(starpu_data_handle_t handle, unsigned dimensions, int dims[])
{
	struct orr_data_ext *ext = ext_or_die(handle, __func__);

	if (dimensions > 5)
		dimensions = 5;
	ext->ncoords = (int) dimensions;
	for (unsigned i = 0; i < dimensions; i++)
		ext->coords[i] = dims[i];
	orr_handle_record(handle, 0);
}

void starpu_data_set_coordinates(starpu_data_handle_t handle, unsigned dimensions, ...)
{
	int dims[5];
	unsigned i;
	va_list ap;

	va_start(ap, dimensions);
	for (i = 0; i < dimensions && i < 5; i++)
		dims[i] = va_arg(ap, int);
	va_end(ap);
	starpu_data_set_coordinates_array(handle, i, dims);
}

unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle, unsigned dimensions,
					   int dims[])
{
	orr_handle_must_be_known(handle, __func__);
	unsigned n = handle->ext ? (unsigned) handle->ext->ncoords : 0;
	for (unsigned i = 0; i < n && i < dimensions; i++)
		dims[i] = handle->ext->coords[i];
	return n;
}

void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data)
{
	ext_or_die(handle, __func__)->user_data = user_data;
}
void *starpu_data_get_user_data(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ext ? handle->ext->user_data : NULL;
}
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data)
{
	ext_or_die(handle, __func__)->sched_data = sched_data;
}
void *starpu_data_get_sched_data(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ext ? handle->ext->sched_data : NULL;
}
void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask)
{
	ORR_ATOMIC_STORE(&ext_or_die(handle, __func__)->wt_mask, wt_mask);
}

void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle, unsigned flag)
{
	orr_handle_checked(handle, __func__)->sequential = flag != 0;
}
unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->sequential;
}
void starpu_data_set_default_sequential_consistency_flag(unsigned flag)
{
	orr_self()->data->default_sequential_consistency = flag != 0;
}
unsigned starpu_data_get_default_sequential_consistency_flag(void)
{
	return (unsigned) orr_self()->data->default_sequential_consistency;
}

void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag)
{
	ext_or_die(handle, __func__)->ooc_off = !flag;
}
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle)
{
	return !(orr_handle_checked(handle, __func__)->ext && handle->ext->ooc_off);
}

struct starpu_data_interface_ops *starpu_data_get_interface_ops(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ops;
}
enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ops->interfaceid;
}
int starpu_data_get_home_node(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->home_node;
}

int starpu_data_interface_get_next_id(void)
{
	static int next = STARPU_MAX_INTERFACE_ID; /* ids need only be unique: shared by all
						      simulated ranks on purpose */

	return ORR_ATOMIC_ADD(&next, 1) - 1;
}

void starpu_data_register_ops(struct starpu_data_interface_ops *ops)
{
	if (ops->interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
		ops->interfaceid = (enum starpu_data_interface_id)
			starpu_data_interface_get_next_id();
}
