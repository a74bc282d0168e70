/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checkpoints: their start and end, templates, and the submission of an instance.
 *
 * A record of the file is written by a task that reads its datum, so that it waits for its place
 * among the program's tasks and keeps no thread of the runtime busy with a disk.
 *
 * Invariant: an instance frees itself when the rank's part of it is over; it lives as long as
 * inst->left counts something. */
#include "mpi/checkpoint/checkpoint.h"
#include "mpi/carry/p2p.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/mpi_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "core/task/task_count.h"

#define CONTEXT 0x43504b54 /* messages of checkpoints match in a context of their own */

enum { TAG_ACK = 1, TAG_DONE };
#define VALUE_BITS 22 /* of the number of an entry that is a value */

/* ---- start and end ---- */

struct orr_checkpoints *orr_cp_get(const char *who)
{
	struct orr_mpi *mpi = orr_mpi_get(who);

	if (mpi && !mpi->guests.checkpoints)
		orr_error("%s: call starpu_mpi_checkpoint_init() first, on all ranks", who);
	return mpi ? mpi->guests.checkpoints : NULL;
}

/* One record: the task that saves it frees it. */
struct save {
	struct orr_cp_instance *inst;
	starpu_data_handle_t handle;
	unsigned k;
	int source;
};

static struct save *save_of(void *cl_arg)
{
	struct save *save;

	starpu_codelet_unpack_args(cl_arg, &save);
	return save;
}

static void save_cpu(void *buffers[], void *cl_arg)
{
	struct save *save = save_of(cl_arg);
	starpu_ssize_t size;
	void *packed;
	unsigned node = starpu_worker_get_local_memory_node();

	(void) buffers;
	int ret = starpu_data_pack_node(save->handle, node, &packed, &size);
	if (ret) {
		orr_error("data %s cannot be saved: its interface cannot pack it (%s)",
			  orr_handle_name(save->handle), strerror(-ret));
	} else {
		ret = orr_cp_file_add(save->inst, save->k, save->source, packed, (size_t) size);
		starpu_free_on_node_flags(node, (uintptr_t) packed, (size_t) size, 0);
	}
	if (ret)
		ORR_ATOMIC_STORE(&save->inst->failed, 1);
}

static double save_us(struct starpu_task *task, unsigned nimpl)
{
	struct orr_checkpoints *cp = orr_self()->mpi->guests.checkpoints;

	(void) nimpl;
	return 1 +
	       (double) starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, 0)) / cp->bytes_per_us;
}

static void make_codelet(struct orr_checkpoints *cp)
{
	cp->save_model.type = STARPU_COMMON;
	cp->save_model.cost_function = save_us;
	starpu_codelet_init(&cp->save_cl);
	cp->save_cl.cpu_funcs[0] = save_cpu;
	cp->save_cl.nbuffers = 1;
	cp->save_cl.modes[0] = STARPU_R;
	cp->save_cl.name = "checkpoint";
	cp->save_cl.model = &cp->save_model;
}

int starpu_mpi_checkpoint_init(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	if (mpi->guests.checkpoints) {
		orr_error(
			"starpu_mpi_checkpoint_init was called before; call starpu_mpi_checkpoint_shutdown() first");
		return -EALREADY;
	}
	struct orr_checkpoints *cp = calloc(1, sizeof(*cp));
	int ret = cp ? orr_cp_folder_begin(cp, mpi->proc->cfg->checkpoint_dir, mpi->rank) : -ENOMEM;
	if (ret) {
		free(cp);
		return ret;
	}
	cp->comm = *mpi->comms.all[0];
	cp->comm.context = CONTEXT;
	cp->bytes_per_us = mpi->proc->cfg->checkpoint_mbps;
	cp->any_program = mpi->proc->cfg->checkpoint_any_program;
	make_codelet(cp);
	starpu_void_data_register(&cp->ack_in);
	starpu_void_data_register(&cp->ack_out);
	starpu_void_data_register(&cp->done_in);
	starpu_void_data_register(&cp->done_out);
	mpi->guests.checkpoints = cp;
	return 0;
}

static void free_entry(struct orr_cp_entry *e)
{
	for (int i = 0; e->copies && i < (e->is_value ? e->nfrom : 1); i++)
		starpu_data_unregister(e->copies[i]);
	free(e->copies);
	free(e->from);
}

static void free_template(struct _starpu_mpi_checkpoint_template *t)
{
	for (unsigned k = 0; k < t->n; k++)
		free_entry(&t->v[k]);
	free(t->v);
	free(t);
}

/* The program came to its end: nobody needs the files any more. */
int starpu_mpi_checkpoint_shutdown(void)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);
	struct orr_mpi *mpi = orr_self()->mpi;
	int ret = cp ? orr_mpi_check_blocking(__func__) : -EINVAL;

	if (ret)
		return ret;
	orr_mpi_wait_everything(mpi, __func__);
	if (!mpi->fake)
		ret = orr_mpi_barrier(mpi, mpi->comms.all[0]->comm);
	if (mpi->stats.print)
		printf("[starpu_mpi_ft][%d] %" PRIu64 " checkpoints, %" PRIu64
		       " B sent to backup ranks, %" PRIu64 " B written\n",
		       mpi->rank, cp->nsubmitted, cp->bytes_sent, cp->bytes_saved);
	while (cp->templates) {
		struct _starpu_mpi_checkpoint_template *t = cp->templates;
		cp->templates = t->next;
		if (cp->dir) {
			orr_cp_file_remove(t, t->removed + 1, t->submitted);
			orr_cp_file_unmark(t);
		}
		free_template(t);
	}
	starpu_data_unregister(cp->ack_in);
	starpu_data_unregister(cp->ack_out);
	starpu_data_unregister(cp->done_in);
	starpu_data_unregister(cp->done_out);
	orr_cp_folder_end(cp, mpi->rank);
	mpi->guests.checkpoints = NULL;
	starpu_perfmodel_deinit(
		&cp->save_model); /* or it would be found at the end of the process */
	free(cp);
	return ret;
}

int starpu_mpi_ft_turn_on(void)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);

	if (cp)
		cp->off = 0;
	return cp ? 0 : -EINVAL;
}

int starpu_mpi_ft_turn_off(void)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);

	if (cp)
		cp->off = 1;
	return cp ? 0 : -EINVAL;
}

/* ---- templates ---- */

int64_t orr_cp_tag(const struct _starpu_mpi_checkpoint_template *t, unsigned k)
{
	uint64_t which = (uint64_t) ((uint32_t) t->domain * 64u + (uint32_t) t->id) & 0x7fffff;

	return (int64_t) (which << 40 | (uint64_t) k);
}

/* Of the messages that say that an instance is saved. */
static int64_t instance_tag(const struct _starpu_mpi_checkpoint_template *t, uint32_t number,
			    int what)
{
	return orr_cp_tag(t, 0) | (int64_t) what << 34 | (int64_t) number;
}

/* Of an entry's message. Each send of a value has a datum of its own, so that nothing but the
 * number of the instance keeps them in order; sends of one datum wait for each other where it
 * changes. */
static int64_t message_tag(const struct orr_cp_instance *inst, unsigned k)
{
	int64_t tag = orr_cp_tag(inst->t, ORR_CP_TAG_ENTRIES + k);

	if (inst->t->v[k].is_value)
		tag |= (int64_t) 1 << 39 | (int64_t) (inst->number & 0xffff) << VALUE_BITS;
	return tag;
}

int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template, int cp_id,
					  int cp_domain)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);

	if (!cp)
		return -EINVAL;
	for (struct _starpu_mpi_checkpoint_template *t = cp->templates; t; t = t->next)
		if (orr_cp_tag(t, 0) ==
		    orr_cp_tag(&(struct _starpu_mpi_checkpoint_template){ .id = cp_id,
									  .domain = cp_domain },
			       0)) {
			orr_error(
				"checkpoint template %d of domain %d: there is one of that number (%d of %d)",
				cp_id, cp_domain, t->id, t->domain);
			return -EINVAL;
		}
	struct _starpu_mpi_checkpoint_template *t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->mpi = orr_self()->mpi;
	t->id = cp_id;
	t->domain = cp_domain;
	t->next = cp->templates;
	cp->templates = t;
	*cp_template = t;
	return 0;
}

static int refuse(const struct _starpu_mpi_checkpoint_template *t, const char *what, int number)
{
	orr_error("checkpoint template %d, entry %u: %s (%d)", t->id, t->n, what, number);
	return -EINVAL;
}

/* Reads what follows a mode into the entry. */
static int read_entry(struct _starpu_mpi_checkpoint_template *t, struct orr_cp_entry *e, int mode,
		      va_list *ap)
{
	struct orr_mpi *mpi = t->mpi;

	switch (mode) {
	case STARPU_R:
		e->handle = va_arg(*ap, starpu_data_handle_t);
		e->backup = va_arg(*ap, int);
		break;
	case STARPU_VALUE:
		e->is_value = 1;
		e->ptr = va_arg(*ap, void *);
		e->size = (size_t) va_arg(*ap, int);
		e->tag = va_arg(*ap, starpu_mpi_tag_t);
		e->backup_of = va_arg(*ap, int (*)(int));
		if (!e->backup_of)
			return refuse(t, "a value needs a function that names backup ranks", 0);
		e->backup = e->backup_of(mpi->rank);
		break;
	default: return refuse(t, "it takes STARPU_R and STARPU_VALUE, not", mode);
	}
	if (e->backup < 0 || e->backup >= mpi->size)
		return refuse(t, "there is no such backup rank", e->backup);
	if (e->is_value && t->n >= (1u << VALUE_BITS) - ORR_CP_TAG_ENTRIES)
		return refuse(t, "values come before so many data", (int) t->n);
	if (e->is_value && (!e->ptr || !e->size))
		return refuse(t, "a value needs an address and a size", (int) e->size);
	return 0;
}

static int add_entry(struct _starpu_mpi_checkpoint_template *t, int mode, va_list *ap)
{
	struct orr_cp_entry e = { 0 };
	int ret = t->frozen ? refuse(t, "the template is frozen already", t->frozen)
			    : read_entry(t, &e, mode, ap);

	if (ret)
		return ret;
	if (t->n == t->cap) {
		unsigned cap = t->cap ? 2 * t->cap : 16;
		struct orr_cp_entry *v = realloc(t->v, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		t->v = v;
		t->cap = cap;
	}
	t->v[t->n++] = e;
	return 0;
}

int starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template, ...)
{
	struct /* a pointer to a va_list in a parameter is no pointer to one */ {
		va_list ap;
	} args;

	if (!orr_cp_get(__func__))
		return -EINVAL;
	va_start(args.ap, cp_template);
	int mode = va_arg(args.ap, int), ret = add_entry(*cp_template, mode, &args.ap);
	va_end(args.ap);
	return ret;
}

/* The ranks whose values this rank keeps, and room for what they send. */
static int find_sources(struct _starpu_mpi_checkpoint_template *t, struct orr_cp_entry *e)
{
	int me = t->mpi->rank, size = t->mpi->size;

	for (int rank = 0; rank < size; rank++)
		e->nfrom += rank != me && e->backup_of(rank) == me;
	e->from = malloc(((size_t) e->nfrom + 1) * sizeof(*e->from));
	e->copies = calloc((size_t) e->nfrom + 1, sizeof(*e->copies));
	if (!e->from || !e->copies)
		return -ENOMEM;
	for (int rank = 0, i = 0; rank < size; rank++)
		if (rank != me && e->backup_of(rank) == me) {
			starpu_variable_data_register(&e->copies[i], -1, 0, e->size);
			e->from[i++] = rank;
		}
	return 0;
}

int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);
	struct _starpu_mpi_checkpoint_template *t = cp ? *cp_template : NULL;
	int ret = 0;

	if (!t || t->frozen)
		return t ? refuse(t, "the template is frozen already", t->frozen) : -EINVAL;
	for (unsigned k = 0; k < t->n && !ret; k++) {
		struct orr_cp_entry *e = &t->v[k];
		if (e->is_value)
			ret = find_sources(t, e);
		else if (e->handle && e->backup == t->mpi->rank) {
			e->copies = malloc(sizeof(*e->copies));
			if (!e->copies)
				return -ENOMEM;
			starpu_data_register_same(e->copies, e->handle);
		}
	}
	t->frozen = 1;
	return ret;
}

int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					    int cp_id, int cp_domain, ...)
{
	int mode, ret = starpu_mpi_checkpoint_template_create(cp_template, cp_id, cp_domain);
	struct {
		va_list ap;
	} args;

	va_start(args.ap, cp_domain);
	while (!ret && (mode = va_arg(args.ap, int)) != 0)
		ret = add_entry(*cp_template, mode, &args.ap);
	va_end(args.ap);
	return ret ? ret : starpu_mpi_checkpoint_template_freeze(cp_template);
}

int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template)
{
	if (!orr_cp_get(__func__))
		return -EINVAL;
	printf("checkpoint template %d of domain %d: %u entries, %u checkpoints submitted, %u complete\n",
	       cp_template->id, cp_template->domain, cp_template->n, cp_template->submitted,
	       ORR_ATOMIC_LOAD(&cp_template->complete));
	for (unsigned k = 0; k < cp_template->n; k++) {
		const struct orr_cp_entry *e = &cp_template->v[k];
		if (e->is_value)
			printf("  value of %zu B, tag %" PRId64 ", backup rank %d\n", e->size,
			       e->tag, e->backup);
		else
			printf("  data %s of rank %d, backup rank %d\n",
			       e->handle ? orr_handle_name(e->handle) : "(unknown here)",
			       e->handle ? starpu_mpi_data_get_rank(e->handle) : -1, e->backup);
	}
	return 0;
}

/* ---- an instance ---- */

/* All ranks have saved it: older ones are of no use. */
static void instance_done(void *arg)
{
	struct orr_cp_instance *inst = arg;
	struct _starpu_mpi_checkpoint_template *t = inst->t;

	if (inst->number > ORR_ATOMIC_LOAD(&t->complete))
		ORR_ATOMIC_STORE(&t->complete, inst->number);
	uint32_t removed = ORR_ATOMIC_LOAD(&t->removed);
	while (t->mpi->guests.checkpoints->dir && inst->number > removed + 1)
		if (ORR_ATOMIC_CAS(&t->removed, &removed, inst->number - 1)) {
			ORR_ATOMIC_FENCE();
			orr_cp_file_remove(t, removed + 1, inst->number - 1);
			break;
		}
	free(inst);
}

/* Rank 0 heard of another rank, or of itself, that it is done. */
static void acknowledged(void *arg)
{
	struct orr_cp_instance *inst = arg;
	struct _starpu_mpi_checkpoint_template *t = inst->t;
	struct orr_mpi *mpi = t->mpi;
	struct orr_checkpoints *cp = mpi->guests.checkpoints;

	if (ORR_ATOMIC_ADD(&inst->acks, -1))
		return;
	for (int rank = 1; rank < mpi->size; rank++)
		orr_mpi_isend(mpi, &cp->comm, cp->done_out, rank,
			      instance_tag(t, inst->number, TAG_DONE), 0, ORR_P2P_DETACHED, NULL,
			      NULL, NULL);
	instance_done(inst);
}

/* One record or message less; the last one closes the file and tells rank 0. A rank whose file
 * failed tells nobody, so that the instance never counts. */
static void part_over(struct orr_cp_instance *inst)
{
	struct _starpu_mpi_checkpoint_template *t = inst->t;
	struct orr_checkpoints *cp = t->mpi->guests.checkpoints;

	if (ORR_ATOMIC_ADD(&inst->left, -1))
		return;
	if (cp->dir && orr_cp_file_end(inst))
		orr_fatal("rank %d cannot save checkpoint %" PRIu32 ": see above", t->mpi->rank,
			  inst->number);
	orr_mpi_trace_change(t->mpi, ORR_CHANGE_CHECKPOINT, inst->begun_us, inst->number,
			     inst->saved, inst->sent);
	if (t->mpi->rank == 0)
		acknowledged(inst);
	else
		orr_mpi_isend(t->mpi, &cp->comm, cp->ack_out, 0,
			      instance_tag(t, inst->number, TAG_ACK), 0, ORR_P2P_DETACHED, NULL,
			      NULL, NULL);
}

static void message_over(void *arg)
{
	part_over(arg);
}

static void record_over(void *arg)
{
	struct save *save = arg;

	part_over(save->inst);
	free(save);
}

/* Has a task write the datum's value of now. */
static int save_datum(struct orr_cp_instance *inst, unsigned k, int source, starpu_data_handle_t h,
		      int prio)
{
	struct orr_checkpoints *cp = inst->t->mpi->guests.checkpoints;
	struct save *save = malloc(sizeof(*save));

	if (!save)
		return -ENOMEM;
	*save = (struct save){ inst, h, k, source };
	ORR_ATOMIC_ADD(&inst->left, 1);
	return starpu_task_insert(&cp->save_cl, STARPU_R, h, STARPU_VALUE, &save, sizeof(save),
				  STARPU_PRIORITY, prio, STARPU_CALLBACK_WITH_ARG_NFREE,
				  record_over, save, 0);
}

static int send_copy(struct orr_cp_instance *inst, unsigned k, starpu_data_handle_t h, int backup,
		     int prio)
{
	struct orr_checkpoints *cp = inst->t->mpi->guests.checkpoints;

	ORR_ATOMIC_ADD(&inst->left, 1);
	ORR_ATOMIC_ADD(&inst->sent, starpu_data_get_size(h));
	ORR_ATOMIC_ADD(&cp->bytes_sent, starpu_data_get_size(h));
	return orr_mpi_isend(inst->t->mpi, &cp->comm, h, backup, message_tag(inst, k), prio,
			     ORR_P2P_DETACHED, message_over, inst, NULL);
}

static int receive_copy(struct orr_cp_instance *inst, unsigned k, int source,
			starpu_data_handle_t copy, int prio)
{
	struct orr_checkpoints *cp = inst->t->mpi->guests.checkpoints;

	ORR_ATOMIC_ADD(&inst->left, 1);
	int ret = orr_mpi_irecv(inst->t->mpi, &cp->comm, copy, source, message_tag(inst, k), prio,
				ORR_P2P_DETACHED, message_over, inst, NULL);
	return ret || !cp->dir ? ret : save_datum(inst, k, source, copy, prio);
}

static int submit_datum(struct orr_cp_instance *inst, unsigned k, int prio)
{
	struct orr_cp_entry *e = &inst->t->v[k];
	int me = inst->t->mpi->rank, owner = e->handle ? e->handle->mpi_rank : -1, ret = 0;

	if (owner == STARPU_MPI_PER_NODE)
		return inst->t->mpi->guests.checkpoints->dir
			       ? save_datum(inst, k, me, e->handle, prio)
			       : 0;
	if (owner == -1 || (owner != me && e->backup != me))
		return 0;
	if (owner != me)
		return receive_copy(inst, k, owner, e->copies[0], prio);
	if (inst->t->mpi->guests.checkpoints->dir)
		ret = save_datum(inst, k, me, e->handle, prio);
	return ret || e->backup == me ? ret : send_copy(inst, k, e->handle, e->backup, prio);
}

/* The value is copied at once: the program goes on and changes it. */
static int submit_value(struct orr_cp_instance *inst, unsigned k, int prio)
{
	struct orr_cp_entry *e = &inst->t->v[k];
	struct orr_mpi *mpi = inst->t->mpi;
	starpu_data_handle_t h;
	int ret = 0;

	if (mpi->guests.checkpoints->dir)
		ret = orr_cp_file_add(inst, k, mpi->rank, e->ptr, e->size);
	for (int i = 0; i < e->nfrom && !ret; i++)
		ret = receive_copy(inst, k, e->from[i], e->copies[i], prio);
	if (ret || e->backup == mpi->rank)
		return ret;
	starpu_variable_data_register(&h, -1, 0, e->size);
	ret = starpu_data_acquire(h, STARPU_W);
	if (!ret) {
		void *local = starpu_data_get_local_ptr(h);
		orr_sys_memcpy(mpi->proc, local, e->ptr, e->size);
		starpu_data_release(h);
		ret = send_copy(inst, k, h, e->backup, prio);
	}
	starpu_data_unregister_submit(h);
	return ret;
}

/* Receives what says that others, or all, are done. */
static int submit_agreement(struct orr_cp_instance *inst)
{
	struct _starpu_mpi_checkpoint_template *t = inst->t;
	struct orr_mpi *mpi = t->mpi;
	struct orr_checkpoints *cp = mpi->guests.checkpoints;
	int ret = 0;

	if (mpi->rank)
		return orr_mpi_irecv(mpi, &cp->comm, cp->done_in, 0,
				     instance_tag(t, inst->number, TAG_DONE), 0, ORR_P2P_DETACHED,
				     instance_done, inst, NULL);
	inst->acks = mpi->size;
	for (int rank = 1; rank < mpi->size && !ret; rank++)
		ret = orr_mpi_irecv(mpi, &cp->comm, cp->ack_in, rank,
				    instance_tag(t, inst->number, TAG_ACK), 0, ORR_P2P_DETACHED,
				    acknowledged, inst, NULL);
	return ret;
}

int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template, int prio)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);
	struct _starpu_mpi_checkpoint_template *t = cp_template;

	if (!cp || !t->frozen)
		return cp ? refuse(t, "starpu_mpi_checkpoint_template_freeze() was not called",
				   t->frozen)
			  : -EINVAL;
	if (cp->off || t->mpi->fake)
		return 0;
	struct orr_cp_instance *inst = calloc(1, sizeof(*inst));
	if (!inst)
		return -ENOMEM;
	inst->t = t;
	inst->number = ++t->submitted;
	inst->left = 1;
	inst->fd = -1;
	inst->begun_us = orr_trace_wait_begin(t->mpi->proc);
	cp->nsubmitted++;
	int ret = cp->dir ? orr_cp_file_begin(inst) : 0;
	if (!ret)
		ret = submit_agreement(inst);
	for (unsigned k = 0; k < t->n && !ret; k++)
		ret = t->v[k].is_value ? submit_value(inst, k, prio) : submit_datum(inst, k, prio);
	/* A part of it is under way on other ranks: there is no way back. */
	if (ret)
		orr_fatal("rank %d cannot submit checkpoint %" PRIu32 ": %s", t->mpi->rank,
			  inst->number,
			  ret == -ENODEV ? "it needs a CPU worker, which writes it"
					 : strerror(-ret));
	part_over(inst);
	return 0;
}
