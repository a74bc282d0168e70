/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_task_insert and its relatives: variable arguments into tasks, and packed kernel arguments.
 *
 * A packed argument buffer is: int count, then for each argument size_t size and its bytes, without
 * padding. Invariant: the list of markers here and in starpu_task_util.h agree; every marker
 * consumes exactly the arguments documented there. */
#include "core/insert.h"
#include "core/worker.h"
#include "data/handle.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODES \
	(STARPU_R | STARPU_W | STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX | STARPU_COMMUTE | \
	 STARPU_SSEND | STARPU_LOCALITY | STARPU_NOPLAN | STARPU_UNMAP | STARPU_NOFOOTPRINT)

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
		orr_fatal("a kernel unpacks more arguments than were packed for it");
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
		orr_fatal("a kernel unpacks an argument of %zu bytes, but %zu bytes were packed",
			  size, packed);
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
		orr_fatal("a kernel unpacks arguments, but its task has none");
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

/* What is not unpacked is copied to buffer as a packed buffer of its own. */
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

/* ---- tasks ---- */

struct parse {
	struct starpu_task *task;
	struct starpu_codelet *cl;
	struct starpu_codelet_pack_arg_data pack;
	int packing;
	unsigned n;   /* data so far */
	unsigned cap; /* room in dyn_handles, 0 while the inline arrays do */
};

/* Makes room for n data: beyond STARPU_NMAXBUFS they move to allocated arrays. */
static int reserve(struct parse *p, unsigned n)
{
	struct starpu_task *t = p->task;
	unsigned cap;
	void *h, *m;

	if (n <= STARPU_NMAXBUFS || n <= p->cap)
		return 0;
	cap = n > 2 * STARPU_NMAXBUFS ? 2 * n : 2 * STARPU_NMAXBUFS;
	h = realloc(t->dyn_handles, cap * sizeof(*t->dyn_handles));
	if (h)
		t->dyn_handles = h;
	m = realloc(t->dyn_modes, cap * sizeof(*t->dyn_modes));
	if (m)
		t->dyn_modes = m;
	if (!h || !m)
		return -ENOMEM;
	if (!p->cap) {
		memcpy(t->dyn_handles, t->handles, p->n * sizeof(*t->handles));
		memcpy(t->dyn_modes, t->modes, p->n * sizeof(*t->modes));
	}
	p->cap = cap;
	return 0;
}

static int add_data(struct parse *p, starpu_data_handle_t h, enum starpu_data_access_mode mode)
{
	struct starpu_task *t = p->task;
	unsigned i = p->n;

	if (reserve(p, i + 1))
		return -ENOMEM;
	if (!h) {
		orr_error("task %s: datum %u is a NULL handle", orr_task_name(t), i);
		return -EINVAL;
	}
	if (p->cap) {
		t->dyn_handles[i] = h;
		t->dyn_modes[i] = mode;
	} else {
		t->handles[i] = h;
		t->modes[i] = mode;
	}
	p->n++;
	return 0;
}

/* A mode in the list must be the codelet's, as far as contents and order go. */
static int check_mode(struct parse *p, unsigned i, enum starpu_data_access_mode mode)
{
	enum starpu_data_access_mode declared;
	unsigned mask = STARPU_RW | STARPU_SCRATCH | STARPU_REDUX;

	if (!p->cl || p->cl->nbuffers == STARPU_VARIABLE_NBUFFERS ||
	    i >= (unsigned) p->cl->nbuffers || (mode & STARPU_MPI_REDUX))
		return 0;
	declared = STARPU_CODELET_GET_MODE(p->cl, i);
	if (!(declared & mask) && (mode & mask)) {
		/* A codelet that states no mode takes that of its first task. */
		STARPU_CODELET_SET_MODE(p->cl, mode, i);
		return 0;
	}
	if ((declared & mask) == (mode & mask) ||
	    ((mode & STARPU_REDUX) && (declared & STARPU_RW) == STARPU_RW))
		return 0;
	orr_error("task %s: datum %u is inserted with access mode %d, its codelet declares %d",
		  orr_task_name(p->task), i, (int) mode, (int) declared);
	return -EINVAL;
}

static int data_arrays(struct parse *p, int marker, va_list *ap)
{
	int i, n, ret = 0;

	if (marker == STARPU_DATA_ARRAY) {
		starpu_data_handle_t *handles = va_arg(*ap, starpu_data_handle_t *);

		n = va_arg(*ap, int);
		for (i = 0; i < n && !ret; i++) {
			unsigned k = p->n;

			ret = add_data(p, handles[i],
				       p->cl && p->cl->nbuffers != STARPU_VARIABLE_NBUFFERS
					       ? STARPU_CODELET_GET_MODE(p->cl, k)
					       : STARPU_RW);
		}
	} else {
		struct starpu_data_descr *d = va_arg(*ap, struct starpu_data_descr *);

		n = va_arg(*ap, int);
		for (i = 0; i < n && !ret; i++) {
			ret = check_mode(p, p->n, d[i].mode);
			if (!ret)
				ret = add_data(p, d[i].handle, d[i].mode);
		}
	}
	return ret;
}

static void cl_args(struct parse *p, va_list *ap, int to_free)
{
	p->task->cl_arg = va_arg(*ap, void *);
	p->task->cl_arg_size = va_arg(*ap, size_t);
	p->task->cl_arg_free = to_free & 1;
}

typedef void (*callback_t)(void *);

/* Callbacks and their arguments. Returns 0 when the marker is none of these. */
static int callbacks(struct starpu_task *t, int marker, va_list *ap)
{
	switch (marker) {
	case STARPU_CALLBACK: t->callback_func = va_arg(*ap, callback_t); break;
	case STARPU_CALLBACK_ARG:
		t->callback_arg = va_arg(*ap, void *);
		t->callback_arg_free = 1;
		break;
	case STARPU_CALLBACK_ARG_NFREE:
		t->callback_arg = va_arg(*ap, void *);
		t->callback_arg_free = 0;
		break;
	case STARPU_CALLBACK_WITH_ARG:
	case STARPU_CALLBACK_WITH_ARG_NFREE:
		t->callback_func = va_arg(*ap, callback_t);
		t->callback_arg = va_arg(*ap, void *);
		t->callback_arg_free = marker == STARPU_CALLBACK_WITH_ARG;
		break;
	case STARPU_EPILOGUE_CALLBACK: t->epilogue_callback_func = va_arg(*ap, callback_t); break;
	case STARPU_EPILOGUE_CALLBACK_ARG:
		t->epilogue_callback_arg = va_arg(*ap, void *);
		t->epilogue_callback_arg_free = 1;
		break;
	case STARPU_PROLOGUE_CALLBACK: t->prologue_callback_func = va_arg(*ap, callback_t); break;
	case STARPU_PROLOGUE_CALLBACK_ARG:
		t->prologue_callback_arg = va_arg(*ap, void *);
		t->prologue_callback_arg_free = 1;
		break;
	case STARPU_PROLOGUE_CALLBACK_ARG_NFREE:
		t->prologue_callback_arg = va_arg(*ap, void *);
		t->prologue_callback_arg_free = 0;
		break;
	case STARPU_PROLOGUE_CALLBACK_POP:
		t->prologue_callback_pop_func = va_arg(*ap, callback_t);
		break;
	case STARPU_PROLOGUE_CALLBACK_POP_ARG:
		t->prologue_callback_pop_arg = va_arg(*ap, void *);
		t->prologue_callback_pop_arg_free = 1;
		break;
	case STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE:
		t->prologue_callback_pop_arg = va_arg(*ap, void *);
		t->prologue_callback_pop_arg_free = 0;
		break;
	default: return 0;
	}
	return 1;
}

/* Where and when. Returns 0 when the marker is none of these. */
static int placement(struct starpu_task *t, int marker, va_list *ap)
{
	unsigned n;
	int i;

	switch (marker) {
	case STARPU_PRIORITY: t->priority = va_arg(*ap, int); break;
	case STARPU_EXECUTE_ON_NODE: (void) va_arg(*ap, int); break;
	case STARPU_EXECUTE_ON_DATA: (void) va_arg(*ap, starpu_data_handle_t); break;
	case STARPU_NODE_SELECTION_POLICY: (void) va_arg(*ap, int); break;
	case STARPU_EXECUTE_ON_WORKER:
		i = va_arg(*ap, int);
		if (i != -1) {
			t->workerid = (unsigned) i;
			t->execute_on_a_specific_worker = 1;
		}
		break;
	case STARPU_EXECUTE_WHERE: t->where = (int32_t) va_arg(*ap, unsigned long long); break;
	case STARPU_WORKER_ORDER: t->workerorder = va_arg(*ap, unsigned); break;
	case STARPU_TASK_WORKERIDS:
		t->workerids_len = va_arg(*ap, unsigned);
		t->workerids = va_arg(*ap, uint32_t *);
		break;
	case STARPU_TAG:
		t->tag_id = va_arg(*ap, starpu_tag_t);
		t->use_tag = 1;
		break;
	case STARPU_TAG_ONLY: t->tag_id = va_arg(*ap, starpu_tag_t); break;
	case STARPU_TASK_DEPS_ARRAY:
		n = va_arg(*ap, unsigned);
		starpu_task_declare_deps_array(t, n, va_arg(*ap, struct starpu_task **));
		break;
	case STARPU_TASK_END_DEPS_ARRAY:
		n = va_arg(*ap, unsigned);
		starpu_task_declare_end_deps_array(t, n, va_arg(*ap, struct starpu_task **));
		break;
	case STARPU_TASK_END_DEP: starpu_task_end_dep_add(t, va_arg(*ap, int)); break;
	case STARPU_SCHED_CTX: t->sched_ctx = va_arg(*ap, unsigned); break;
	case STARPU_POSSIBLY_PARALLEL: t->possibly_parallel = va_arg(*ap, unsigned); break;
	case STARPU_TASK_SYNCHRONOUS: t->synchronous = va_arg(*ap, int) != 0; break;
	case STARPU_SEQUENTIAL_CONSISTENCY:
		t->sequential_consistency = va_arg(*ap, unsigned) != 0;
		break;
	case STARPU_HANDLES_SEQUENTIAL_CONSISTENCY:
		t->handles_sequential_consistency = va_arg(*ap, unsigned char *);
		break;
	default: return 0;
	}
	return 1;
}

/* What only traces, models and policies look at. Returns 0 when the marker is none of these. */
static int annotations(struct starpu_task *t, int marker, va_list *ap)
{
	switch (marker) {
	case STARPU_FLOPS: t->flops = va_arg(*ap, double); break;
	case STARPU_NAME: t->name = va_arg(*ap, const char *); break;
	case STARPU_TASK_COLOR: t->color = (unsigned) va_arg(*ap, int); break;
	case STARPU_TASK_PROFILING_INFO:
		t->profiling_info = va_arg(*ap, struct starpu_profiling_task_info *);
		break;
	case STARPU_TASK_NO_SUBMITORDER: t->no_submitorder = va_arg(*ap, unsigned) != 0; break;
	case STARPU_TASK_SCHED_DATA: t->sched_data = va_arg(*ap, void *); break;
	case STARPU_TRANSACTION: t->transaction = va_arg(*ap, struct starpu_transaction *); break;
	case STARPU_TASK_FILE: t->file = va_arg(*ap, const char *); break;
	case STARPU_TASK_LINE: t->line = va_arg(*ap, int); break;
	default: return 0;
	}
	return 1;
}

static int one(struct parse *p, int marker, va_list *ap)
{
	if (marker < 1 << 16) {
		starpu_data_handle_t h = va_arg(*ap, starpu_data_handle_t);
		int ret;

		if (marker & ~MODES) {
			orr_error("task %s: %#x is neither an access mode nor a marker",
				  orr_task_name(p->task), (unsigned) marker);
			return -EINVAL;
		}
		ret = check_mode(p, p->n, (enum starpu_data_access_mode) marker);
		return ret ? ret : add_data(p, h, (enum starpu_data_access_mode) marker);
	}
	switch (marker) {
	case STARPU_VALUE: {
		void *ptr = va_arg(*ap, void *);

		if (!p->packing)
			starpu_codelet_pack_arg_init(&p->pack);
		p->packing = 1;
		starpu_codelet_pack_arg(&p->pack, ptr, va_arg(*ap, size_t));
		return 0;
	}
	case STARPU_CL_ARGS:
	case STARPU_CL_ARGS_NFREE: cl_args(p, ap, marker == STARPU_CL_ARGS); return 0;
	case STARPU_DATA_ARRAY:
	case STARPU_DATA_MODE_ARRAY: return data_arrays(p, marker, ap);
	}
	if (placement(p->task, marker, ap) || annotations(p->task, marker, ap) ||
	    callbacks(p->task, marker, ap))
		return 0;
	orr_error("task %s: unknown marker %#x in the argument list; it must end with 0",
		  orr_task_name(p->task), (unsigned) marker);
	return -EINVAL;
}

int orr_task_insert_parse(struct starpu_task *task, struct starpu_codelet *cl, va_list ap_in)
{
	struct parse p = { .task = task, .cl = cl };
	va_list ap;
	int marker, ret = 0;

	task->cl = cl;
	va_copy(ap, ap_in);
	while (!ret && (marker = va_arg(ap, int)) != 0)
		ret = one(&p, marker, &ap);
	va_end(ap);
	if (p.packing) {
		if (task->cl_arg && !ret) {
			orr_error("task %s: STARPU_VALUE and STARPU_CL_ARGS exclude each other",
				  orr_task_name(task));
			ret = -EINVAL;
		}
		if (ret) {
			free(p.pack.arg_buffer);
			return ret;
		}
		starpu_codelet_pack_arg_fini(&p.pack, &task->cl_arg, &task->cl_arg_size);
		task->cl_arg_free = 1;
	}
	if (ret)
		return ret;
	task->nbuffers = (int) p.n;
	if (cl && cl->nbuffers != STARPU_VARIABLE_NBUFFERS && (unsigned) cl->nbuffers != p.n) {
		orr_error("task %s: %u data are given, its codelet takes %d", orr_task_name(task),
			  p.n, cl->nbuffers);
		return -EINVAL;
	}
	return 0;
}

int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...)
{
	va_list ap;
	int ret;

	va_start(ap, cl);
	ret = orr_task_insert_parse(task, cl, ap);
	va_end(ap);
	return ret;
}

static struct starpu_task *build(struct starpu_codelet *cl, va_list ap, int *ret)
{
	struct starpu_task *task = starpu_task_create();

	*ret = task ? orr_task_insert_parse(task, cl, ap) : -ENOMEM;
	if (*ret && task) {
		starpu_task_destroy(task);
		task = NULL;
	}
	return task;
}

struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...)
{
	struct starpu_task *task;
	va_list ap;
	int ret;

	va_start(ap, cl);
	task = build(cl, ap, &ret);
	va_end(ap);
	return task;
}

static int insert(struct starpu_codelet *cl, va_list ap)
{
	struct starpu_task *task;
	int ret;

	task = build(cl, ap, &ret);
	if (!task)
		return ret;
	ret = starpu_task_submit(task);
	if (ret)
		starpu_task_destroy(task);
	return ret;
}

int starpu_task_insert(struct starpu_codelet *cl, ...)
{
	va_list ap;
	int ret;

	va_start(ap, cl);
	ret = insert(cl, ap);
	va_end(ap);
	return ret;
}

int starpu_insert_task(struct starpu_codelet *cl, ...)
{
	va_list ap;
	int ret;

	va_start(ap, cl);
	ret = insert(cl, ap);
	va_end(ap);
	return ret;
}
