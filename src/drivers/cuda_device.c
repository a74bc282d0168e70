/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the devices that CUDA drives, and prepares them (see cuda.h).
 *
 * A machine where CUDA cannot be used gets one line that says why, and no CUDA workers.
 *
 * Invariant: what orr_cuda_devices() returned is complete, with streams; nothing else is kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "drivers/choice.h"
#include "drivers/cuda_own.h"
#include "drivers/limit.h"

#define PATIENCE_US 2e6 /* for the last rings of a device that was lost */
#define NAP_US 50.0

int orr_cu_errno(int err)
{
	return err == ORR_CU_NO_MEMORY ? -ENOMEM : -EIO;
}

int orr_cu_enter(const struct orr_cu_device *d)
{
	int old = -1;

	d->api->get_device(&old);
	if (old != d->id)
		d->api->set_device(d->id);
	return old;
}

void orr_cu_leave(const struct orr_cu_device *d, int old)
{
	if (old >= 0 && old != d->id)
		d->api->set_device(old);
}

static void *rings_of(const struct orr_cu_device *d, const void *stream)
{
	unsigned i = 0;

	while (d->bell[i].stream != stream) {
		i++;
		orr_assert(i < d->nbells);
	}
	return d->bell[i].rings;
}

/* On an H100 an event to sleep on delayed the ring by 28 us, which an interrupt takes; rings in the
 * stream itself delayed each kernel behind them by 20 us. */
int orr_cu_mark(struct orr_cu_device *d, void *stream, void **event, void (*ring)(void *),
		void *arg)
{
	void *rings = rings_of(d, stream);
	int old = orr_cu_enter(d), err = d->api->event_create(event, ORR_CU_EVENT_UNTIMED);

	if (err == ORR_CU_SUCCESS)
		err = d->api->event_record(*event, stream);
	if (err == ORR_CU_SUCCESS)
		err = d->api->stream_wait(rings, *event, 0);
	if (err == ORR_CU_SUCCESS) {
		ORR_ATOMIC_ADD(&d->nringing, 1);
		err = d->api->call_host(rings, ring, arg);
		if (err != ORR_CU_SUCCESS)
			ORR_ATOMIC_ADD(&d->nringing, -1);
	}
	orr_cu_leave(d, old);
	return err;
}

int orr_cu_query(const struct orr_cu_device *d, void *event)
{
	int err = d->api->event_query(event);

	/* Else the program's next kernel would find it as the error of its launch. */
	if (err == ORR_CU_NOT_READY)
		d->api->last_error();
	return err;
}

int orr_cu_drain(const struct orr_cu_device *d, void *stream)
{
	void *event;
	int old = orr_cu_enter(d),
	    err = d->api->event_create(&event, ORR_CU_EVENT_SLEEPS | ORR_CU_EVENT_UNTIMED);

	if (err == ORR_CU_SUCCESS) {
		err = d->api->event_record(event, stream);
		if (err == ORR_CU_SUCCESS)
			err = d->api->event_wait(event);
		d->api->event_destroy(event);
	}
	orr_cu_leave(d, old);
	return err;
}

/* ---- which devices ---- */

/* The number of devices; 0 after one line if CUDA cannot say. */
static int count(const struct orr_cu_api *api)
{
	int n = 0, err = api->device_count(&n);

	if (err == ORR_CU_SUCCESS)
		return n;
	api->last_error();
	if (err == ORR_CU_OLD_DRIVER)
		orr_warn(
			"there are no CUDA workers: the driver of the GPU is missing, or too old for CUDA %d.%d",
			api->version / 1000, api->version % 1000 / 10);
	else
		orr_warn("there are no CUDA workers: %s", api->text(err));
	return 0;
}

static int choose(const struct orr_process *proc, int n, unsigned id[STARPU_MAXCUDADEVS])
{
	const struct starpu_conf *conf = proc->conf;
	const struct orr_choice choice = {
		.kind = "CUDA",
		.variable = "STARPU_WORKERS_CUDAID",
		.list = proc->cfg->workers_cudaid,
		.field_name = "workers_cuda_gpuid",
		.field = conf->use_explicit_workers_cuda_gpuid ? conf->workers_cuda_gpuid : NULL,
	};

	return orr_devices_choose(proc, &choice, (unsigned) n, id, STARPU_MAXCUDADEVS);
}

/* ---- preparing them ---- */

static int make_stream(struct orr_cu_device *d, void **stream, unsigned flags)
{
	int err = d->api->stream_create(stream, flags);
	struct orr_cu_bell *b = &d->bell[d->nbells];

	if (err != ORR_CU_SUCCESS)
		return err;
	orr_assert(d->nbells < sizeof(d->bell) / sizeof(*d->bell));
	b->stream = *stream;
	err = d->api->stream_create(&b->rings, ORR_CU_NON_BLOCKING);
	d->nbells += err == ORR_CU_SUCCESS;
	return err;
}

static int make_streams(struct orr_cu_device *d)
{
	unsigned n = (unsigned) d->proc->cfg->nworker_per_cuda;
	void **copies[] = { &d->in, &d->out, &d->inside };
	int err = d->api->set_device(d->id);

	for (unsigned i = 0; i < 3 && err == ORR_CU_SUCCESS; i++)
		err = make_stream(d, copies[i], ORR_CU_NON_BLOCKING);
	for (unsigned i = 0; i < n && err == ORR_CU_SUCCESS; i++) {
		/* It waits for the default stream, which careless kernels use. */
		err = make_stream(d, &d->worker[i].stream, 0);
		if (err == ORR_CU_SUCCESS)
			err = d->api->event_create(&d->worker[i].event, ORR_CU_EVENT_UNTIMED);
	}
	return err;
}

static void destroy(const struct orr_cu_device *d, void **stream)
{
	if (*stream) {
		orr_cu_drain(d, *stream);
		d->api->stream_destroy(*stream);
		*stream = NULL;
	}
}

/* [waits] A thread of CUDA's may be about to ring; of a lost device it may never do so. */
static void await_rings(struct orr_cu_device *d)
{
	double until = orr_sys_now_us() + PATIENCE_US;

	while (ORR_ATOMIC_LOAD(&d->nringing) && orr_sys_now_us() < until)
		orr_sys_sleep_us(NAP_US);
}

static void release(struct orr_cu_device *d)
{
	int old = orr_cu_enter(d);

	destroy(d, &d->in);
	destroy(d, &d->out);
	destroy(d, &d->inside);
	for (unsigned i = 0; i < STARPU_MAXCUDADEVS; i++)
		destroy(d, &d->peer[i]);
	for (unsigned i = 0; i < ORR_CU_MAXWORKERS; i++) {
		destroy(d, &d->worker[i].stream);
		if (d->worker[i].event)
			d->api->event_destroy(d->worker[i].event);
		d->worker[i].event = NULL;
	}
	while (d->nbells > 0)
		destroy(d, &d->bell[--d->nbells].rings);
	await_rings(d);
	orr_cu_leave(d, old);
}

static size_t memory_of(const struct orr_cu_device *d)
{
	size_t available = 0, total = 0,
	       limit = orr_limit_of_device("CUDA", d->id, d->proc->cfg->limit_cuda_mem);

	if (d->api->mem_info(&available, &total) != ORR_CU_SUCCESS)
		return limit;
	/* CUDA and kernels need some for themselves. */
	available -= available / 10;
	return limit && limit < available ? limit : available;
}

static int prepare(struct orr_process *proc, struct orr_cu_device *d, int id)
{
	*d = (struct orr_cu_device){ .proc = proc, .api = &proc->cuda->api, .id = id };
	int err = make_streams(d);

	if (err == ORR_CU_SUCCESS)
		err = d->api->properties(d->properties, id);
	if (err == ORR_CU_SUCCESS) {
		d->memory = memory_of(d);
		return 0;
	}
	orr_warn("CUDA device %d cannot be used: %s", id, d->api->text(err));
	d->api->last_error();
	release(d);
	return -ENODEV;
}

/* Lets device d reach the memory of the other one, and makes the stream of the copies there. Copies
 * between devices that cannot reach each other go through main memory; CUDA sees to that. */
static void connect_peers(struct orr_cu_device *d, struct orr_cu_device *other)
{
	const struct orr_cu_api *api = d->api;
	int can = 0, err;

	api->set_device(d->id);
	err = make_stream(d, &d->peer[other - d->proc->cuda->device], ORR_CU_NON_BLOCKING);
	if (err != ORR_CU_SUCCESS)
		orr_fatal("CUDA device %d: no stream for copies to device %d: %s", d->id, other->id,
			  api->text(err));
	if (!d->proc->cfg->cuda_peer || api->can_access(&can, d->id, other->id) || !can)
		return;
	err = api->enable_access(other->id, 0);
	if (err != ORR_CU_SUCCESS)
		api->last_error();
	if (err != ORR_CU_SUCCESS && err != ORR_CU_PEER_ENABLED)
		orr_warn(
			"CUDA device %d does not reach the memory of device %d (%s): copies go through main memory",
			d->id, other->id, api->text(err));
}

static void describe(struct orr_cu_device *d, struct orr_device *v)
{
	const struct orr_config *cfg = d->proc->cfg;

	*v = (struct orr_device){
		.arch = STARPU_CUDA_WORKER,
		.kind = STARPU_CUDA_RAM,
		.devid = d->id,
		.nworkers = (unsigned) cfg->nworker_per_cuda,
		.pipeline = (unsigned) cfg->cuda_pipeline,
		.memory = d->memory,
		.memory_ops = &orr_cu_memory,
		.memory_arg = d,
		.driver = &orr_cu_driver,
		.driver_arg = d,
	};
	if (d->api->bus_id(v->bus_id, sizeof(v->bus_id), d->id) != ORR_CU_SUCCESS) {
		d->api->last_error();
		v->bus_id[0] = 0;
	}
	/* The properties begin with the name. */
	snprintf(v->name, sizeof(v->name), "CUDA %d (%.16s)", d->id, d->properties);
}

static unsigned prepare_all(struct orr_process *proc, const unsigned *id, unsigned n)
{
	struct orr_cuda *cu = proc->cuda;

	for (unsigned i = 0; i < n; i++)
		if (!prepare(proc, &cu->device[cu->ndevices], (int) id[i]))
			cu->ndevices++;
	for (unsigned i = 0; i < cu->ndevices; i++)
		for (unsigned k = 0; k < cu->ndevices; k++)
			if (i != k)
				connect_peers(&cu->device[i], &cu->device[k]);
	return cu->ndevices;
}

/* Loads CUDA for the process. 0: it can be used. */
static int start(struct orr_process *proc, long asked)
{
	struct orr_cuda *cu = calloc(1, sizeof(*cu));
	int ret = cu ? orr_cu_load(proc->cfg, &cu->api) : -ENOMEM;

	if (ret == -ENOENT && asked > 0 && !proc->cfg->cudart)
		orr_warn("STARPU_NCUDA: there are no CUDA workers: %s",
#ifdef STARPU_USE_CUDA
			 "this machine has no GPU that CUDA drives, or no library of its runtime");
#else
			 "this library was built without the CUDA toolkit (configure --with-cuda), and ORRERY_CUDART names no library");
#endif
	if (ret)
		free(cu);
	else
		proc->cuda = cu;
	return ret;
}

int orr_cuda_devices(struct orr_process *proc, struct orr_device *v, unsigned max, long asked)
{
	unsigned id[STARPU_MAXCUDADEVS];
	int n;

	if (!max || !orr_sys_drives_devices() || start(proc, asked))
		return 0;
	n = count(&proc->cuda->api);
	n = n ? choose(proc, n, id) : 0;
	if (n > (int) max)
		n = (int) max;
	unsigned ready = n > 0 ? prepare_all(proc, id, (unsigned) n) : 0;
	for (unsigned i = 0; i < ready; i++)
		describe(&proc->cuda->device[i], &v[i]);
	if (!ready)
		orr_cuda_exit(proc);
	return n < 0 ? n : (int) ready;
}

void orr_cuda_settle(struct orr_process *proc)
{
	for (unsigned i = 0; proc->cuda && i < proc->cuda->ndevices; i++)
		await_rings(&proc->cuda->device[i]);
}

void orr_cuda_exit(struct orr_process *proc)
{
	struct orr_cuda *cu = proc->cuda;

	if (!cu)
		return;
	for (unsigned i = 0; i < cu->ndevices; i++)
		release(&cu->device[i]);
	free(cu);
	proc->cuda = NULL;
}
