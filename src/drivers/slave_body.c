/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel for a slave as a row of bytes: names, argument, and the structures of the data's
 * interfaces, whose addresses are the slave's.
 *
 * Invariant: each part begins at a multiple of GRAIN bytes, in the same place for reader and
 * writer. */
#include <string.h>

#include "base/assert.h"
#include "core/task/task.h"
#include "data/handle.h"
#include "data/iface/iface.h"
#include "drivers/slave_own.h"

#define GRAIN 16

static size_t grains(size_t bytes)
{
	return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

/* Goes through the parts of a body one after the other. */
static char *next_part(char **at, size_t bytes)
{
	char *part = *at;

	*at += grains(bytes);
	return part;
}

/* Before each interface. */
struct head {
	size_t size;   /* of the structure */
	size_t arrays; /* of each of the two arrays that it points to and that follow it */
};

/* The structure of an array of n dimensions points to its dimensions. */
static struct head head_of(const struct orr_task *t, unsigned i)
{
	const struct starpu_data_interface_ops *ops = orr_task_handle(t->pub, i)->ops;
	const struct starpu_ndim_interface *a = t->interfaces[i];
	int ndim = orr_iface_id(ops) == STARPU_NDIM_INTERFACE_ID;

	return (struct head){ ops->interface_size, ndim ? a->ndim * sizeof(*a->nn) : 0 };
}

size_t orr_slave_body_bytes(const struct orr_task *t, const struct orr_slave_run *run)
{
	size_t bytes = grains(run->name) + grains(run->symbol) + grains(run->arg);

	for (unsigned i = 0; i < run->nbuffers; i++) {
		struct head h = head_of(t, i);

		bytes += grains(sizeof(h)) + grains(h.size) + 2 * grains(h.arrays);
	}
	return bytes;
}

static void write_iface(char **at, const struct orr_task *t, unsigned i)
{
	const struct starpu_ndim_interface *a = t->interfaces[i];
	struct head h = head_of(t, i);

	memcpy(next_part(at, sizeof(h)), &h, sizeof(h));
	memcpy(next_part(at, h.size), a, h.size);
	if (!h.arrays)
		return;
	memcpy(next_part(at, h.arrays), a->nn, h.arrays);
	memcpy(next_part(at, h.arrays), a->ldn, h.arrays);
}

void orr_slave_body_write(char *at, const struct orr_task *t, const struct orr_slave_run *run,
			  const char *name, const char *symbol)
{
	memset(at, 0, run->body);
	memcpy(next_part(&at, run->name), name, run->name);
	memcpy(next_part(&at, run->symbol), symbol, run->symbol);
	if (run->arg)
		memcpy(next_part(&at, run->arg), t->pub->cl_arg, run->arg);
	for (unsigned i = 0; i < run->nbuffers; i++)
		write_iface(&at, t, i);
}

static void *read_iface(char **at)
{
	struct head h;

	memcpy(&h, next_part(at, sizeof(h)), sizeof(h));
	struct starpu_ndim_interface *a = (void *) next_part(at, h.size);
	if (h.arrays) {
		a->nn = (uint32_t *) (void *) next_part(at, h.arrays);
		a->ldn = (uint32_t *) (void *) next_part(at, h.arrays);
	}
	return a;
}

void orr_slave_body_read(char *at, const struct orr_slave_run *run, void **buffers,
			 struct orr_slave_body *body)
{
	body->name = next_part(&at, run->name);
	body->symbol = next_part(&at, run->symbol);
	body->arg = run->arg ? next_part(&at, run->arg) : NULL;
	body->buffers = buffers;
	for (unsigned i = 0; i < run->nbuffers; i++)
		buffers[i] = read_iface(&at);
}
