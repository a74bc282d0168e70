/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_task_insert and its relatives: lists of markers and arguments become tasks.
 *
 * Invariant: every marker consumes exactly the arguments of its row in insert_markers.h. */
#include "core/flow/insert.h"
#include "core/task/codelet.h"
#include "core/flow/insert_markers.h"
#include "core/task/task.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODES \
	(STARPU_R | STARPU_W | STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX | STARPU_COMMUTE | \
	 STARPU_SSEND | STARPU_LOCALITY | STARPU_NOPLAN | STARPU_UNMAP | STARPU_NOFOOTPRINT)

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
	declared = orr_codelet_mode(p->cl, i);
	if (!(declared & mask) && (mode & mask)) {
		/* A codelet that states no mode takes that of its first task, if it has room. */
		if (p->cl->dyn_modes || i < STARPU_NMAXBUFS)
			STARPU_CODELET_SET_MODE(p->cl, mode, i);
		return 0;
	}
	if ((declared & mask) == (mode & mask) ||
	    ((mode & STARPU_REDUX) && (declared & STARPU_RW) == STARPU_RW))
		return 0;
	char inserted[ORR_MODE_NAME], of_codelet[ORR_MODE_NAME];
	orr_error("task %s: datum %u is inserted with access mode %s, its codelet declares %s",
		  orr_task_name(p->task), i, orr_mode_name(mode, inserted),
		  orr_mode_name(declared, of_codelet));
	return -EINVAL;
}

static int add_handles(struct parse *p, const starpu_data_handle_t *handles, int n)
{
	int ret = 0;

	for (int i = 0; i < n && !ret; i++)
		ret = add_data(p, handles[i],
			       p->cl && p->cl->nbuffers != STARPU_VARIABLE_NBUFFERS
				       ? orr_codelet_mode(p->cl, p->n)
				       : STARPU_RW);
	return ret;
}

static int add_descrs(struct parse *p, const struct starpu_data_descr *d, int n)
{
	int ret = 0;

	for (int i = 0; i < n && !ret; i++) {
		ret = check_mode(p, p->n, d[i].mode);
		if (!ret)
			ret = add_data(p, d[i].handle, d[i].mode);
	}
	return ret;
}

/* Addresses below this one are in no program: a number stands where its address should. */
#define FIRST_PAGE 4096

static int pack_value(struct parse *p, const void *ptr, size_t size)
{
	if ((uintptr_t) ptr < FIRST_PAGE && size > 0) {
		orr_error(
			"task %s: STARPU_VALUE is followed by %#zx, which is no address; give the address of the value, then its size",
			orr_task_name(p->task), (size_t) ptr);
		return -EINVAL;
	}
	if (!p->packing)
		starpu_codelet_pack_arg_init(&p->pack);
	p->packing = 1;
	starpu_codelet_pack_arg(&p->pack, ptr, size);
	return 0;
}

static void set_cl_arg(struct starpu_task *t, void *arg, size_t size, int to_free)
{
	t->cl_arg = arg;
	t->cl_arg_size = size;
	t->cl_arg_free = to_free & 1;
}

static void set_worker(struct starpu_task *t, int worker)
{
	if (worker == -1)
		return;
	t->workerid = (unsigned) worker;
	t->execute_on_a_specific_worker = 1;
}

/* An access mode stands for itself. */
static int insert_mode(struct parse *p, int mode, starpu_data_handle_t h)
{
	int ret;

	if (mode & ~MODES) {
		orr_error("task %s: %#x is neither an access mode nor a marker",
			  orr_task_name(p->task), (unsigned) mode);
		return -EINVAL;
	}
	ret = check_mode(p, p->n, (enum starpu_data_access_mode) mode);
	return ret ? ret : add_data(p, h, (enum starpu_data_access_mode) mode);
}

#define APPLY_ONE(name, A, owned, ...) \
	case name: { \
		A a = va_arg(*ap, A); \
		__VA_ARGS__; \
		return 0; \
	}
#define APPLY_TWO(name, A, B, owned, ...) \
	case name: { \
		A a = va_arg(*ap, A); \
		B b = va_arg(*ap, B); \
		__VA_ARGS__; \
		return 0; \
	}

static int insert_marker(struct parse *p, int marker, va_list *ap)
{
	struct starpu_task *t = p->task;

	switch (marker) {
		ORR_MARKERS(APPLY_ONE, APPLY_TWO)
	default:
		orr_error("task %s: unknown marker %#x in the argument list; it must end with 0",
			  orr_task_name(t), (unsigned) marker);
		return -EINVAL;
	}
}

#define SKIP_ONE(name, A, owned, ...) \
	case name: { \
		A a = va_arg(*ap, A); \
		(void) a; \
		return (struct orr_marker_skipped){ 1, (owned) }; \
	}
#define SKIP_TWO(name, A, B, owned, ...) \
	case name: { \
		A a = va_arg(*ap, A); \
		B b = va_arg(*ap, B); \
		(void) a; \
		(void) b; \
		return (struct orr_marker_skipped){ 1, (owned) }; \
	}

struct orr_marker_skipped orr_marker_skip(int marker, va_list *ap)
{
	switch (marker) {
		ORR_MARKERS(SKIP_ONE, SKIP_TWO)
	default: return (struct orr_marker_skipped){ 0, NULL };
	}
}

/* Hands what the list said to the task; ret: what reading it returned. */
static int parsed(struct parse *p, int ret)
{
	struct starpu_task *task = p->task;
	struct starpu_codelet *cl = p->cl;

	if (p->packing) {
		if (task->cl_arg && !ret) {
			orr_error("task %s: STARPU_VALUE and STARPU_CL_ARGS exclude each other",
				  orr_task_name(task));
			ret = -EINVAL;
		}
		if (ret) {
			free(p->pack.arg_buffer);
			return ret;
		}
		starpu_codelet_pack_arg_fini(&p->pack, &task->cl_arg, &task->cl_arg_size);
		task->cl_arg_free = 1;
	}
	if (ret)
		return ret;
	task->nbuffers = (int) p->n;
	if (cl && cl->nbuffers != STARPU_VARIABLE_NBUFFERS && (unsigned) cl->nbuffers != p->n) {
		orr_error("task %s: %u data are given, its codelet takes %d", orr_task_name(task),
			  p->n, cl->nbuffers);
		return -EINVAL;
	}
	return 0;
}

int orr_task_insert_parse(struct starpu_task *task, struct starpu_codelet *cl, va_list ap_in)
{
	struct parse p = { .task = task, .cl = cl };
	va_list ap;
	int marker, ret = 0;

	task->cl = cl;
	va_copy(ap, ap_in);
	while (!ret && (marker = va_arg(ap, int)) != 0)
		if (marker < ORR_FIRST_MARKER)
			ret = insert_mode(&p, marker, va_arg(ap, starpu_data_handle_t));
		else
			ret = insert_marker(&p, marker, &ap);
	va_end(ap);
	return parsed(&p, ret);
}

/* ---- the same from an array ---- */

/* An element as an argument of type A. A size and a mask of places (Fortran's constants are
 * pointers) stand for themselves; other numbers are pointed to. */
static inline unsigned long long mask_of(const void *element)
{
	return (uintptr_t) element < 4096 ? (uintptr_t) element : *(const unsigned *) element;
}

#define ELEMENT(A, element, of_long) \
	_Generic((A *) 0, int *: *(int *) (element), unsigned *: *(unsigned *) (element), \
		 double *: *(double *) (element), unsigned long long *: mask_of(element), \
		 unsigned long *: of_long, default: (element))
#define NUMBER(element) (*(starpu_tag_t *) (element))
#define SIZE(element) ((size_t) (element))

#define LIST_ONE(name, A, owned, ...) \
	case name: { \
		void *element = *(*list)++; \
		A a = ELEMENT(A, element, NUMBER(element)); \
		__VA_ARGS__; \
		return 0; \
	}
#define LIST_TWO(name, A, B, owned, ...) \
	case name: { \
		void *first = *(*list)++, *second = *(*list)++; \
		A a = ELEMENT(A, first, SIZE(first)); \
		B b = ELEMENT(B, second, SIZE(second)); \
		__VA_ARGS__; \
		return 0; \
	}

static int list_marker(struct parse *p, int marker, void ***list)
{
	struct starpu_task *t = p->task;

	switch (marker) {
		ORR_MARKERS(LIST_ONE, LIST_TWO)
	default:
		orr_error(
			"task %s: unknown marker %#x in the argument list; it must end with C_NULL_PTR",
			orr_task_name(t), (unsigned) marker);
		return -EINVAL;
	}
}

int orr_task_insert_list(struct starpu_task *task, struct starpu_codelet *cl, void **list)
{
	struct parse p = { .task = task, .cl = cl };
	int ret = 0;

	task->cl = cl;
	while (!ret && *list) {
		int marker = (int) (intptr_t) *list++;
		if (marker < ORR_FIRST_MARKER)
			ret = insert_mode(&p, marker, *list++);
		else
			ret = list_marker(&p, marker, &list);
	}
	return parsed(&p, ret);
}

#define ELEMENTS_ONE(name, A, owned, ...) \
	case name: { \
		return 1; \
	}
#define ELEMENTS_TWO(name, A, B, owned, ...) \
	case name: { \
		return 2; \
	}

unsigned orr_marker_elements(int marker)
{
	switch (marker) {
		ORR_MARKERS(ELEMENTS_ONE, ELEMENTS_TWO)
	default: return 0;
	}
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

int starpu_task_insert(struct starpu_codelet *cl, ...)
{
	struct starpu_task *task;
	va_list ap;
	int ret;

	struct orr_thread *self = orr_insert_begin(cl);
	va_start(ap, cl);
	task = build(cl, ap, &ret);
	va_end(ap);
	if (task) {
		ret = starpu_task_submit(task);
		if (ret)
			starpu_task_destroy(task);
	}
	orr_insert_end(self);
	return ret;
}

/* Its older name. */
int starpu_insert_task(struct starpu_codelet *cl, ...) __attribute__((alias("starpu_task_insert")));
