/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transport "ucx": messages to ranks that have UCX go over its tag matching, those to the
 * others over MPI.
 *
 * The library is loaded when ORRERY_TRANSPORT asks for it, so other programs do not pay for it, and
 * a host may be without it. Each rank tells all others the address of its worker over MPI, or that
 * it has none. An endpoint is made before the first message to a rank.
 *
 * A message's tag holds its source and, unless it is an envelope, the engine's tag. A payload with
 * gaps is copied to a row of bytes, and back.
 *
 * Invariant: only the engine's owner calls UCX, and callbacks run inside such a call only, so
 * nothing here is locked. Both sides of a message decide by the rank alone which way it goes. */
#include "sys/mpi_transports.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <ucp/api/ucp.h>
#include "base/log.h"

#define LIBRARY "libucp.so.0"
#define ENVELOPE ((ucp_tag_t) 1 << 63)
#define SOURCE_SHIFT 32
#define WHOLE_TAG (~(ucp_tag_t) 0)

#define FUNCTIONS(F) \
	F(ucp, config_read) \
	F(ucp, config_release) \
	F(ucp, init_version) \
	F(ucp, cleanup) \
	F(ucp, worker_create) \
	F(ucp, worker_destroy) \
	F(ucp, worker_get_address) \
	F(ucp, worker_release_address) \
	F(ucp, worker_progress) \
	F(ucp, ep_create) \
	F(ucp, ep_close_nbx) \
	F(ucp, tag_send_nbx) \
	F(ucp, tag_send_sync_nbx) \
	F(ucp, tag_recv_nbx) \
	F(ucp, request_check_status) \
	F(ucp, request_cancel) \
	F(ucp, request_free) \
	F(ucs, status_string)

#define MEMBER(library, name) __typeof__(library##_##name) *name;

/* A flight over UCX. */
struct message {
	struct message *next;
	struct orr_parcel *flight;
	void *packed; /* in place of buf, or NULL; then the layout is kept */
	void *buf;
	struct orr_layout layout;
	int receives;
};

/* A message that is sent ahead; orr_parcel.own points to it. */
struct ahead {
	struct orr_parcel below; /* over MPI */
	int over_mpi;
	void *request; /* over UCX; NULL: complete */
};

enum envelope_state { LISTENING, ARRIVED, REPORTED };

static struct orr_real_ucx {
	struct {
		FUNCTIONS(MEMBER)
	} api;
	ucp_context_h context;
	ucp_worker_h worker;
	int rank, size, nreached; /* other ranks with UCX */
	char *addresses;          /* of all ranks, one after the other ... */
	int *starts;              /* ... from there on; [size]: the end */
	ucp_ep_h *endpoints;
	struct message *done, **done_end, *unused;
	char *envelope;
	size_t most;
	enum envelope_state state;
	void *envelope_request;
	size_t envelope_bytes;
	int envelope_source, from_mpi; /* the envelope reported last came over MPI */
	uint64_t nmessages, nbytes;    /* sent, for the statistics */
} ucx;

static const struct orr_transport *mpi(void)
{
	return orr_real_mpi_transport();
}

static int reaches(int rank)
{
	return ucx.worker && ucx.starts[rank + 1] > ucx.starts[rank];
}

static void ucx_check(ucs_status_t status, const char *what, int rank)
{
	if (status != UCS_OK)
		orr_fatal("UCX cannot %s rank %d: %s; ORRERY_TRANSPORT=mpi does without UCX", what,
			  rank, ucx.api.status_string(status));
}

/* ---- start ---- */

static int load_library(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		orr_warn("ORRERY_TRANSPORT=ucx: %s; MPI carries the messages of rank %d", dlerror(),
			 ucx.rank);
		return 0;
	}
#define LOAD(library_name, name) \
	ucx.api.name = (__typeof__(ucx.api.name)) dlsym(library, #library_name "_" #name); \
	if (!ucx.api.name) { \
		orr_warn("ORRERY_TRANSPORT=ucx: " LIBRARY " has no " #library_name "_" #name \
			 "; MPI carries the messages of rank %d", \
			 ucx.rank); \
		dlclose(library); \
		return 0; \
	}
	FUNCTIONS(LOAD)
	return 1;
}

static ucs_status_t make_worker(void)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES |
					      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
				.features = UCP_FEATURE_TAG,
				.estimated_num_eps = (size_t) ucx.size };
	ucp_worker_params_t worker = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				       .thread_mode = UCS_THREAD_MODE_SERIALIZED };
	ucp_config_t *config;
	ucs_status_t status = ucx.api.config_read(NULL, NULL, &config);

	if (status != UCS_OK)
		return status;
	status = ucx.api.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx.context);
	ucx.api.config_release(config);
	if (status != UCS_OK)
		return status;
	status = ucx.api.worker_create(ucx.context, &worker, &ucx.worker);
	if (status != UCS_OK)
		ucx.api.cleanup(ucx.context);
	return status;
}

/* Tells all ranks this one's address, and learns theirs. */
static void exchange_addresses(MPI_Comm comm)
{
	ucp_address_t *mine = NULL;
	size_t bytes = 0;
	int *lengths = calloc((size_t) ucx.size, sizeof(*lengths));

	if (ucx.worker)
		ucx_check(ucx.api.worker_get_address(ucx.worker, &mine, &bytes),
			  "give an address of", ucx.rank);
	ucx.starts = calloc((size_t) ucx.size + 1, sizeof(*ucx.starts));
	ucx.endpoints = calloc((size_t) ucx.size, sizeof(*ucx.endpoints));
	if (!lengths || !ucx.starts || !ucx.endpoints)
		orr_fatal("out of memory for %d ranks", ucx.size);
	int length = (int) bytes;
	MPI_Allgather(&length, 1, MPI_INT, lengths, 1, MPI_INT, comm);
	for (int i = 0; i < ucx.size; i++) {
		ucx.starts[i + 1] = ucx.starts[i] + lengths[i];
		ucx.nreached += i != ucx.rank && lengths[i] && ucx.worker;
	}
	ucx.addresses = malloc((size_t) ucx.starts[ucx.size] + 1);
	if (!ucx.addresses)
		orr_fatal("out of memory for the addresses of %d ranks", ucx.size);
	MPI_Allgatherv(mine, length, MPI_BYTE, ucx.addresses, lengths, ucx.starts, MPI_BYTE, comm);
	if (mine)
		ucx.api.worker_release_address(ucx.worker, mine);
	free(lengths);
}

int orr_real_ucx_init(MPI_Comm comm, int rank, int size)
{
	ucx.rank = rank;
	ucx.size = size;
	if (load_library()) {
		ucs_status_t status = make_worker();
		if (status != UCS_OK)
			orr_warn(
				"ORRERY_TRANSPORT=ucx: UCX does not start (%s); MPI carries the messages of rank %d",
				ucx.api.status_string(status), rank);
	}
	exchange_addresses(comm);
	return 0;
}

/* ---- end ---- */

/* Goes on until a request of UCX's is complete. */
static void finish(void *request, const char *what, int rank)
{
	if (UCS_PTR_IS_ERR(request))
		ucx_check(UCS_PTR_STATUS(request), what, rank);
	if (!UCS_PTR_IS_PTR(request))
		return;
	while (ucx.api.request_check_status(request) == UCS_INPROGRESS)
		ucx.api.worker_progress(ucx.worker);
	ucx_check(ucx.api.request_check_status(request), what, rank);
	ucx.api.request_free(request);
}

/* Others may still need this rank's help to close their ends. */
static void leave_together(MPI_Comm comm)
{
	MPI_Request barrier;
	int over = 0;

	MPI_Ibarrier(comm, &barrier);
	while (!over) {
		if (ucx.worker)
			ucx.api.worker_progress(ucx.worker);
		MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
	}
}

void orr_real_ucx_exit(MPI_Comm comm)
{
	ucp_request_param_t none = { 0 };
	struct message *m;

	if (!ucx.starts)
		return;
	for (int i = 0; i < ucx.size; i++)
		if (ucx.endpoints[i])
			finish(ucx.api.ep_close_nbx(ucx.endpoints[i], &none), "take leave of", i);
	leave_together(comm);
	if (ucx.worker) {
		ucx.api.worker_destroy(ucx.worker);
		ucx.api.cleanup(ucx.context);
	}
	while ((m = ucx.unused)) {
		ucx.unused = m->next;
		free(m);
	}
	free(ucx.addresses);
	free(ucx.starts);
	free(ucx.endpoints);
	memset(&ucx, 0, sizeof(ucx));
}

/* ---- messages ---- */

/* *at: the row of bytes that UCX sends or fills, which is the buffer itself or a copy of it. */
static struct message *message_new(struct orr_process *proc, struct orr_parcel *f, void *buf,
				   const struct orr_layout *l, int receives, void **at)
{
	struct message *m = ucx.unused;

	if (m)
		ucx.unused = m->next;
	else if (!(m = malloc(sizeof(*m))))
		orr_fatal("out of memory for a message");
	m->flight = f;
	m->packed = NULL;
	*at = m->buf = buf;
	m->receives = receives;
	if (orr_layout_is_row(l))
		return m;
	*at = m->packed = malloc(l->size);
	if (!m->packed)
		orr_fatal("out of memory for a copy of %zu bytes, which UCX sends without gaps",
			  l->size);
	orr_layout_keep(&m->layout, l);
	if (!receives)
		orr_layout_gather(proc, l, buf, m->packed);
	return m;
}

/* A message is complete: the engine takes its flight back when it asks. */
static void message_end(struct message *m)
{
	if (m->packed && m->receives)
		orr_layout_scatter(orr_self(), &m->layout, m->buf, m->packed);
	if (m->packed)
		orr_layout_drop(&m->layout);
	free(m->packed);
	m->next = NULL;
	*(ucx.done ? ucx.done_end : &ucx.done) = m;
	ucx.done_end = &m->next;
}

static struct orr_parcel *take_done(void)
{
	struct message *m = ucx.done;
	struct orr_parcel *f = m->flight;

	ucx.done = m->next;
	m->next = ucx.unused;
	ucx.unused = m;
	return f;
}

static void on_sent(void *request, ucs_status_t status, void *message)
{
	ucx_check(status, "send to a neighbour of", ucx.rank);
	ucx.api.request_free(request);
	message_end(message);
}

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
			void *message)
{
	(void) info;
	ucx_check(status, "receive a payload on", ucx.rank);
	ucx.api.request_free(request);
	message_end(message);
}

static ucp_ep_h endpoint(int rank)
{
	if (!ucx.endpoints[rank]) {
		ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
					   .address = (ucp_address_t *) (ucx.addresses +
									 ucx.starts[rank]) };
		ucx_check(ucx.api.ep_create(ucx.worker, &params, &ucx.endpoints[rank]),
			  "make an endpoint for", rank);
	}
	return ucx.endpoints[rank];
}

static ucp_tag_t tag_of(int source, int tag)
{
	ucp_tag_t from = (ucp_tag_t) source << SOURCE_SHIFT;

	return tag == orr_real_mpi_envelope_tag() ? ENVELOPE | from : from | (unsigned) tag;
}

static void ucx_send(struct orr_process *proc, struct orr_parcel *f, const void *buf,
		     const struct orr_layout *l, int dest, int tag, int synchronous)
{
	void *from;

	if (!reaches(dest)) {
		mpi()->send(proc, f, buf, l, dest, tag, synchronous);
		return;
	}
	struct message *m = message_new(proc, f, (void *) buf, l, 0, &from);
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
						      UCP_OP_ATTR_FIELD_USER_DATA,
				      .cb.send = on_sent,
				      .user_data = m };
	void *request = (synchronous ? ucx.api.tag_send_sync_nbx : ucx.api.tag_send_nbx)(
		endpoint(dest), from, l->size, tag_of(ucx.rank, tag), &param);
	if (UCS_PTR_IS_ERR(request))
		ucx_check(UCS_PTR_STATUS(request), "send to", dest);
	ucx.nmessages++;
	ucx.nbytes += l->size;
	if (!request)
		message_end(m);
}

static void ucx_send_ahead(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			   int count, int dest, int tag)
{
	ucp_request_param_t none = { 0 };
	struct ahead *a = calloc(1, sizeof(*a));

	if (!a)
		orr_fatal("out of memory for a message");
	f->own = a;
	a->over_mpi = !reaches(dest);
	if (a->over_mpi) {
		mpi()->send_ahead(proc, &a->below, buf, count, dest, tag);
		return;
	}
	a->request = ucx.api.tag_send_nbx(endpoint(dest), buf, (size_t) count,
					  tag_of(ucx.rank, tag), &none);
	if (UCS_PTR_IS_ERR(a->request))
		ucx_check(UCS_PTR_STATUS(a->request), "send to", dest);
	ucx.nmessages++;
	ucx.nbytes += (size_t) count;
}

/* Its payload left, so that this hardly ever waits. */
static void ucx_send_ahead_end(struct orr_process *proc, struct orr_parcel *f)
{
	struct ahead *a = f->own;

	if (a->over_mpi)
		mpi()->send_ahead_end(proc, &a->below);
	else
		finish(a->request, "send to a neighbour of", ucx.rank);
	free(a);
}

static void ucx_receive(struct orr_process *proc, struct orr_parcel *f, void *buf,
			const struct orr_layout *l, int source, int tag)
{
	void *to;

	if (!reaches(source)) {
		mpi()->receive(proc, f, buf, l, source, tag);
		return;
	}
	struct message *m = message_new(proc, f, buf, l, 1, &to);
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
						      UCP_OP_ATTR_FIELD_USER_DATA,
				      .cb.recv = on_received,
				      .user_data = m };
	void *request = ucx.api.tag_recv_nbx(ucx.worker, to, l->size, tag_of(source, tag),
					     WHOLE_TAG, &param);
	if (UCS_PTR_IS_ERR(request))
		ucx_check(UCS_PTR_STATUS(request), "receive from", source);
	if (!request)
		message_end(m);
}

/* ---- envelopes ---- */

static void on_envelope(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
			void *unused)
{
	(void) request; /* freed by whoever listens next */
	(void) unused;
	ucx.state = ARRIVED;
	if (status == UCS_ERR_CANCELED)
		return;
	ucx_check(status, "receive an envelope on", ucx.rank);
	ucx.envelope_source = (int) ((info->sender_tag & ~ENVELOPE) >> SOURCE_SHIFT);
	ucx.envelope_bytes = info->length;
}

static void free_envelope_request(void)
{
	if (ucx.envelope_request)
		ucx.api.request_free(ucx.envelope_request);
	ucx.envelope_request = NULL;
}

/* The callback may run before this returns: only it is told the source. */
static void post_envelope(void)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
						      UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
				      .cb.recv = on_envelope };

	free_envelope_request();
	ucx.state = LISTENING;
	ucx.envelope_request = ucx.api.tag_recv_nbx(ucx.worker, ucx.envelope, ucx.most, ENVELOPE,
						    ENVELOPE, &param);
	if (UCS_PTR_IS_ERR(ucx.envelope_request))
		ucx_check(UCS_PTR_STATUS(ucx.envelope_request), "listen on", ucx.rank);
}

static void ucx_listen(struct orr_process *proc)
{
	if (ucx.from_mpi) {
		ucx.from_mpi = 0;
		mpi()->listen(proc);
		return;
	}
	orr_assert(ucx.state == REPORTED);
	post_envelope();
}

/* ---- the engine's turn ---- */

static int has_news(void)
{
	return ucx.done || ucx.state == ARRIVED;
}

static enum orr_transport_event ucx_test(struct orr_process *proc, struct orr_landing *l)
{
	unsigned moved = has_news() ? 0 : ucx.api.worker_progress(ucx.worker);

	if (ucx.state == ARRIVED) {
		ucx.state = REPORTED;
		*l = (struct orr_landing){ .envelope = ucx.envelope,
					   .bytes = ucx.envelope_bytes,
					   .source = ucx.envelope_source };
		return ORR_TRANSPORT_LANDED;
	}
	if (ucx.done) {
		*l = (struct orr_landing){ .flight = take_done() };
		return ORR_TRANSPORT_LANDED;
	}
	enum orr_transport_event event = ORR_TRANSPORT_NOTHING;
	if (ucx.nreached < ucx.size - 1) {
		event = mpi()->test(proc, l);
		ucx.from_mpi = event == ORR_TRANSPORT_LANDED && !l->flight;
	}
	return event == ORR_TRANSPORT_NOTHING && moved ? ORR_TRANSPORT_FLOWING : event;
}

static enum orr_transport_event ucx_wait(struct orr_process *proc, struct orr_landing *l)
{
	return mpi()->wait(proc, l);
}

static void ucx_wake(struct orr_process *proc)
{
	mpi()->wake(proc);
}

static int ucx_open(struct orr_process *proc, int tag, size_t most,
		    struct orr_transport_limits *limits)
{
	int ret = mpi()->open(proc, tag, most, limits);

	if (ret)
		return ret;
	ucx.envelope = malloc(most);
	if (!ucx.envelope) {
		mpi()->close(proc);
		return -ENOMEM;
	}
	ucx.most = most;
	post_envelope();
	return 0;
}

static void ucx_close(struct orr_process *proc)
{
	orr_assertf(!ucx.done, "messages are under way at the end");
	if (ucx.envelope_request && ucx.state == LISTENING) {
		ucx.api.request_cancel(ucx.worker, ucx.envelope_request);
		while (ucx.state == LISTENING)
			ucx.api.worker_progress(ucx.worker);
	}
	free_envelope_request();
	free(ucx.envelope);
	ucx.envelope = NULL;
	if (proc->cfg->mpi_stats)
		fprintf(stderr,
			"[starpu_comm_stats][%d] ucx: %" PRIu64 " messages, %" PRIu64
			" B, sent to %d of %d ranks\n",
			proc->mpi_rank, ucx.nmessages, ucx.nbytes, ucx.nreached, ucx.size - 1);
	mpi()->close(proc);
}

const struct orr_transport *orr_real_ucx_transport(void)
{
	static const struct orr_transport transport = {
		.name = "ucx",
		.open = ucx_open,
		.close = ucx_close,
		.send = ucx_send,
		.send_ahead = ucx_send_ahead,
		.send_ahead_end = ucx_send_ahead_end,
		.receive = ucx_receive,
		.listen = ucx_listen,
		.test = ucx_test,
		.wait = ucx_wait,
		.wake = ucx_wake,
	};

	return ucx.nreached ? &transport : NULL;
}
