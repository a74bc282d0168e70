/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends of one value that are granted together (14.16), on their way to the engine, which sends
 * them along a tree (coop.c).
 *
 * They are found without asking the program: sends of one datum that are granted together hold it
 * for reading at the same time, so they carry the same value. The end of the task that wrote the
 * value grants all sends that were inserted meanwhile; the thread that grants them collects them
 * and hands them to the engine as one list. The program may also announce how many sends to expect.
 *
 * Invariant: a send is in the list of one thread, or of one datum under mpi->lock, or the
 * engine's. */
#include "mpi/carry/burst.h"

#include "base/assert.h"
#include "mpi/carry/attach.h"
#include "mpi/carry/engine.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/message_trace.h"

static struct orr_mpi_req *req_of(struct orr_mpi_link *l)
{
	return l ? (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link)) : NULL;
}

static starpu_data_handle_t handle_of(const struct orr_mpi_req *req)
{
	return req->acquire.access.handle;
}

void orr_mpi_burst_begin(struct orr_thread *self)
{
	self->bursts++;
}

void orr_mpi_burst_end(struct orr_mpi *mpi, struct orr_thread *self)
{
	struct orr_mpi_req *newest = self->burst, *oldest = newest;

	orr_assert(self->bursts > 0);
	if (--self->bursts || !newest)
		return;
	self->burst = NULL;
	while (oldest->link.next)
		oldest = req_of(oldest->link.next);
	orr_mpi_submit_list(mpi, newest, oldest, 0);
}

/* Hands a list of sends that were kept, newest first, to the engine. */
static void submit_all(struct orr_mpi *mpi, struct orr_mpi_req *newest)
{
	struct orr_mpi_req *oldest = newest;

	if (!newest)
		return;
	orr_mpi_trace_held(mpi, ORR_HOLD_ANNOUNCED | ORR_TRACE_GOES_ON, newest);
	while (oldest->link.next) {
		oldest = req_of(oldest->link.next);
		orr_mpi_trace_held(mpi, ORR_HOLD_ANNOUNCED | ORR_TRACE_GOES_ON, oldest);
	}
	orr_mpi_submit_list(mpi, newest, oldest, 0);
}

/* Keeps the send until the announced number is there. Returns 1 when it was kept, and all of them
 * in *all once they are there. */
static int hold_announced(struct orr_mpi *mpi, struct orr_mpi_req *req, struct orr_mpi_req **all)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(handle_of(req));

	*all = NULL;
	orr_lock(&mpi->lock);
	int held = ext->announced != 0;
	if (held) {
		req->link.next = ext->held ? &ext->held->link : NULL;
		ext->held = req;
		if (++ext->nheld >= ext->announced) {
			*all = ext->held;
			ext->held = NULL;
			ext->nheld = ext->announced = 0;
			ORR_ATOMIC_ADD(&mpi->counts.nannounced, -1);
		}
	}
	orr_unlock(&mpi->lock);
	return held;
}

void orr_mpi_burst_submit(struct orr_mpi *mpi, struct orr_mpi_req *req, int will_drive)
{
	struct orr_thread *self = orr_thread_self();

	if (ORR_ATOMIC_LOAD_RELAXED(&handle_of(req)->mpi_flags) & ORR_MPI_ANNOUNCED) {
		struct orr_mpi_req *all;

		orr_mpi_trace_held(mpi, ORR_HOLD_ANNOUNCED, req);
		if (hold_announced(mpi, req, &all)) {
			submit_all(mpi, all);
			return;
		}
		orr_mpi_trace_held(mpi, ORR_HOLD_ANNOUNCED | ORR_TRACE_GOES_ON, req);
	}
	if (self->bursts) {
		struct orr_mpi_req *newest = self->burst;
		req->link.next = newest ? &newest->link : NULL;
		req->grows = 0;
		self->burst = req;
		return;
	}
	/* Tasks that the end of a task makes possible were inserted before. */
	if (self->worker || ORR_ATOMIC_LOAD(&mpi->engine.owner) == self)
		req->grows = 0;
	orr_mpi_submit(mpi, req, will_drive);
}

/* The sends of this datum that wait, and no announcement any more. */
static struct orr_mpi_req *take_announced(struct orr_mpi *mpi, struct orr_mpi_ext *ext)
{
	orr_lock(&mpi->lock);
	struct orr_mpi_req *held = ext->held;
	if (ext->announced)
		ORR_ATOMIC_ADD(&mpi->counts.nannounced, -1);
	ext->held = NULL;
	ext->announced = ext->nheld = 0;
	orr_unlock(&mpi->lock);
	return held;
}

void orr_mpi_burst_flush(struct orr_mpi *mpi)
{
	struct orr_mpi_req *held;

	while (ORR_ATOMIC_LOAD(&mpi->counts.nannounced)) {
		held = NULL;
		orr_lock(&mpi->data.lock);
		for (unsigned i = 0; i < mpi->data.nattached && !held; i++)
			if (mpi->data.attached[i]->mpi_flags & ORR_MPI_ANNOUNCED)
				held = take_announced(mpi, orr_mpi_ext(mpi->data.attached[i]));
		orr_unlock(&mpi->data.lock);
		if (!held)
			return;
		submit_all(mpi, held);
	}
}

void starpu_mpi_coop_sends_data_handle_nb_sends(starpu_data_handle_t data_handle, int nb_sends)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_ext *ext = mpi && data_handle ? orr_mpi_attach(mpi, data_handle) : NULL;

	if (!ext)
		return;
	submit_all(mpi, take_announced(mpi, ext));
	if (nb_sends < 2 || mpi->fake || mpi->set.pedantic || !ORR_ATOMIC_LOAD(&mpi->set.coop))
		return;
	orr_lock(&mpi->lock);
	ext->announced = (uint32_t) nb_sends;
	orr_unlock(&mpi->lock);
	ORR_ATOMIC_ADD(&mpi->counts.nannounced, 1);
	orr_mpi_flags(data_handle, ORR_MPI_ANNOUNCED, 0);
}
