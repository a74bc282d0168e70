/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packed kernel arguments: the program packs them into a task, and kernels unpack them.
 *
 * A packed buffer is: int count, then for each argument size_t size and its bytes, without padding.
 * Invariant: state->current_offset is the beginning of an argument, or the end of the last one. */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/task/task.h"

/* ---- packing ---- */

void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state)
{
	memset(state, 0, sizeof(*state));
	state->arg_buffer_used = sizeof(int);
}

void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state, const void *ptr,
			     size_t ptr_size)
{
	size_t need = state->arg_buffer_used + sizeof(ptr_size) + ptr_size;

	if (need > state->arg_buffer_size) {
		size_t size = state->arg_buffer_size ? 2 * state->arg_buffer_size : 128;
		char *p;

		while (size < need)
			size *= 2;
		p = realloc(state->arg_buffer, size);
		if (!p)
			orr_fatal("out of memory while packing %zu bytes of kernel arguments",
				  need);
		state->arg_buffer = p;
		state->arg_buffer_size = size;
	}
	memcpy(state->arg_buffer + state->arg_buffer_used, &ptr_size, sizeof(ptr_size));
	memcpy(state->arg_buffer + state->arg_buffer_used + sizeof(ptr_size), ptr, ptr_size);
	state->arg_buffer_used = need;
	state->nargs++;
}

void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state, void **cl_arg,
				  size_t *cl_arg_size)
{
	if (!state->arg_buffer) {
		state->arg_buffer = malloc(sizeof(int));
		if (!state->arg_buffer)
			orr_fatal("out of memory while packing kernel arguments");
	}
	memcpy(state->arg_buffer, &state->nargs, sizeof(int));
	*cl_arg = state->arg_buffer;
	*cl_arg_size = state->arg_buffer_used;
}

void starpu_codelet_pack_args(void **arg_buffer, size_t *arg_buffer_size, ...)
{
	struct starpu_codelet_pack_arg_data state;
	va_list ap;
	int marker;

	starpu_codelet_pack_arg_init(&state);
	va_start(ap, arg_buffer_size);
	while ((marker = va_arg(ap, int)) != 0) {
		void *ptr;

		if (marker != STARPU_VALUE)
			orr_fatal(
				"starpu_codelet_pack_args: marker %#x, it takes STARPU_VALUE only",
				(unsigned) marker);
		ptr = va_arg(ap, void *);
		starpu_codelet_pack_arg(&state, ptr, va_arg(ap, size_t));
	}
	va_end(ap);
	starpu_codelet_pack_arg_fini(&state, arg_buffer, arg_buffer_size);
}

/* ---- unpacking ---- */

/* The task whose kernel or callback unpacks, for messages. */
static const char *unpacker(void)
{
	struct orr_task *t = orr_thread_self()->task;

	return t ? orr_task_name(t->pub) : "(none: this thread executes no task)";
}

void starpu_codelet_unpack_arg_init(struct starpu_codelet_pack_arg_data *state, void *cl_arg,
				    size_t cl_arg_size)
{
	state->arg_buffer = cl_arg;
	state->arg_buffer_size = cl_arg_size;
	state->current_offset = sizeof(int);
	state->arg_buffer_used = sizeof(int);
	state->nargs = 0;
	if (cl_arg)
		memcpy(&state->nargs, cl_arg, sizeof(int));
}

/* The next argument, or a fatal message: what the kernel asks for was not packed. */
static char *next_arg(struct starpu_codelet_pack_arg_data *state, size_t *size)
{
	char *p;

	if (state->nargs-- <= 0)
		orr_fatal(
			"task %s unpacks more arguments than were packed for it; insert it with a STARPU_VALUE for each of them",
			unpacker());
	p = state->arg_buffer + state->current_offset;
	memcpy(size, p, sizeof(*size));
	state->current_offset += sizeof(*size) + *size;
	return p + sizeof(*size);
}

void starpu_codelet_unpack_arg(struct starpu_codelet_pack_arg_data *state, void *ptr, size_t size)
{
	size_t packed;
	char *p = next_arg(state, &packed);

	if (packed != size)
		orr_fatal(
			"task %s unpacks an argument of %zu bytes, but %zu bytes were packed; compare the types and the order with its STARPU_VALUEs",
			unpacker(), size, packed);
	memcpy(ptr, p, size);
}

void starpu_codelet_dup_arg(struct starpu_codelet_pack_arg_data *state, void **ptr, size_t *size)
{
	char *p = next_arg(state, size);

	*ptr = malloc(*size ? *size : 1);
	if (!*ptr)
		orr_fatal("out of memory while unpacking kernel arguments");
	memcpy(*ptr, p, *size);
}

void starpu_codelet_pick_arg(struct starpu_codelet_pack_arg_data *state, void **ptr, size_t *size)
{
	*ptr = next_arg(state, size);
}

void starpu_codelet_unpack_discard_arg(struct starpu_codelet_pack_arg_data *state)
{
	size_t size;

	next_arg(state, &size);
}

void starpu_codelet_unpack_arg_fini(struct starpu_codelet_pack_arg_data *state)
{
	(void) state;
}

/* Reads arguments into the given destinations up to a NULL one or the last; returns the offset
 * behind what was read. */
static size_t unpack(void *cl_arg, va_list ap)
{
	struct starpu_codelet_pack_arg_data state;

	if (!cl_arg)
		orr_fatal(
			"task %s unpacks arguments, but has none; insert it with STARPU_VALUE, or do not call starpu_codelet_unpack_args in its kernel",
			unpacker());
	starpu_codelet_unpack_arg_init(&state, cl_arg, 0);
	while (state.nargs > 0) {
		void *dst = va_arg(ap, void *);
		size_t size;
		char *p;

		if (!dst)
			break;
		p = next_arg(&state, &size);
		memcpy(dst, p, size);
	}
	return state.current_offset;
}

void starpu_codelet_unpack_args(void *cl_arg, ...)
{
	va_list ap;

	va_start(ap, cl_arg);
	unpack(cl_arg, ap);
	va_end(ap);
}

/* The part that is not unpacked is copied to buffer as a packed buffer of its own. */
void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *buffer, size_t buffer_size, ...)
{
	struct starpu_codelet_pack_arg_data state;
	size_t offset, out = sizeof(int);
	int left = 0;
	va_list ap;

	va_start(ap, buffer_size);
	offset = unpack(cl_arg, ap);
	va_end(ap);
	starpu_codelet_unpack_arg_init(&state, cl_arg, 0);
	while (state.nargs > 0) {
		size_t start = state.current_offset, size;

		next_arg(&state, &size);
		if (start < offset)
			continue;
		if (out + sizeof(size) + size > buffer_size)
			orr_fatal(
				"starpu_codelet_unpack_args_and_copyleft: %zu bytes do not hold the arguments that are left",
				buffer_size);
		memcpy((char *) buffer + out, (char *) cl_arg + start, sizeof(size) + size);
		out += sizeof(size) + size;
		left++;
	}
	if (buffer_size >= sizeof(int))
		memcpy(buffer, &left, sizeof(int));
}
