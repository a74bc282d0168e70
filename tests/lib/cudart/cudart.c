/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stub of the CUDA runtime (see cudart.h): devices, streams and events.
 *
 * Invariant: all state is under one lock, but for what a stream executes just now. */
#include "cudart_own.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stub stub = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* In the threads' static blocks: ThreadSanitizer of GCC 12 takes those that grow with a library
 * that is loaded later for others (it "failed to allocate" 500 TB). */
#define IN_STATIC_BLOCK __attribute__((tls_model("initial-exec")))
static __thread int current IN_STATIC_BLOCK;
static __thread cudaError_t last IN_STATIC_BLOCK;

/* cudaErrorNotReady, too: not every runtime forgets it (that of CUDA 13 does). */
cudaError_t stub_note(cudaError_t err)
{
	if (err != cudaSuccess)
		last = err;
	return err;
}

int stub_current(void)
{
	return current;
}

/* ---- errors that were asked for ---- */

static void injections(void)
{
	char *text = getenv("ORR_CUDART_FAIL"), *save = NULL;

	text = text ? strdup(text) : NULL;
	for (char *one = text ? strtok_r(text, ",", &save) : NULL; one && stub.nfails < STUB_FAILS;
	     one = strtok_r(NULL, ",", &save)) {
		struct fail *f = &stub.fail[stub.nfails++];
		char plus = 0;

		if (sscanf(one, "%15[a-z]:%ld%c", f->what, &f->at, &plus) < 2) {
			fprintf(stderr, "ORR_CUDART_FAIL: %s is not what:n\n", one);
			abort();
		}
		f->ever_after = plus == '+';
	}
	free(text);
}

int stub_fails(const char *what)
{
	int fails = 0;

	for (unsigned i = 0; i < stub.nfails; i++) {
		struct fail *f = &stub.fail[i];

		if (strcmp(f->what, what))
			continue;
		f->seen++;
		fails = fails || f->seen == f->at || (f->ever_after && f->seen > f->at);
	}
	return fails;
}

static double number(const char *variable, double dflt)
{
	const char *text = getenv(variable);

	return text ? atof(text) : dflt;
}

static void begin(void)
{
	injections();
	stub.copy_mbs = number("ORR_CUDART_COPY_MBS", 0);
	stub.kernel_us = number("ORR_CUDART_KERNEL_US", 0);
}

/* Finds the devices: a program may ask for another number of them at each start. */
static void find_devices(void)
{
	static int begun;
	int n = (int) number("ORR_CUDART_DEVICES", 1);

	for (stub.ndevices = n < STUB_DEVICES ? n : STUB_DEVICES; begun < stub.ndevices; begun++)
		stub_memory_begin(&stub.device[begun],
				  (size_t) (number("ORR_CUDART_MEMORY", 64) * 1048576),
				  number("ORR_CUDART_OPEN", 0) != 0);
}

void stub_lock(void)
{
	pthread_once(&once, begin);
	pthread_mutex_lock(&stub.lock);
}

void stub_unlock(void)
{
	pthread_mutex_unlock(&stub.lock);
}

void stub_lock_for_test(void)
{
	stub_lock();
}

void stub_unlock_for_test(void)
{
	stub_unlock();
}

/* ---- streams ---- */

#define SLOW_US 200000.0 /* that a copy takes more, when it shall */

static void pause_us(double us)
{
	struct timespec t = { .tv_sec = (time_t) (us / 1e6),
			      .tv_nsec = (long) ((us - 1e6 * (double) (time_t) (us / 1e6)) * 1e3) };

	if (us > 0)
		nanosleep(&t, NULL);
}

static void execute(struct op *op)
{
	switch (op->type) {
	case OP_COPY:
		pause_us(op->slow ? SLOW_US : 0);
		if (stub.copy_mbs > 0)
			pause_us((double) (op->size * op->count) / stub.copy_mbs);
		for (size_t i = 0; i < op->count; i++)
			memcpy(op->dst + i * op->ld_dst, op->src + i * op->ld_src, op->size);
		break;
	case OP_KERNEL:
		pause_us(stub.kernel_us);
		op->f(op->arg);
		break;
	case OP_HOST: op->f(op->arg); break;
	case OP_EVENT:
	case OP_WAIT: break;
	}
}

static void event_left(struct CUevent_st *e)
{
	if (!e->pending && !e->waiting && e->destroyed)
		free(e);
}

/* The part of a stream's own operation on an event, under the lock. */
static void execute_event(struct op *op)
{
	if (op->type == OP_EVENT) {
		op->event->pending--;
	} else {
		while (op->event->pending && !op->event->device->error)
			pthread_cond_wait(&stub.changed, &stub.lock);
		op->event->waiting--;
	}
	event_left(op->event);
}

static void *stream_main(void *arg)
{
	struct CUstream_st *s = arg;
	struct op *op;

	/* Not the name of the thread that made the stream. */
	pthread_setname_np(pthread_self(), "stub");
	stub_lock();
	for (;;) {
		while (!s->first && !s->end)
			pthread_cond_wait(&s->more, &stub.lock);
		if (!(op = s->first))
			break;
		if (op->fails)
			s->device->error = op->fails;
		if (op->type == OP_EVENT || op->type == OP_WAIT) {
			execute_event(op);
		} else if (!s->device->error) {
			if (++stub.busy > stub.overlap && op->type != OP_HOST)
				stub.overlap = stub.busy;
			stub_unlock();
			execute(op);
			stub_lock();
			stub.busy--;
		}
		s->first = op->next;
		free(op->own);
		free(op);
		pthread_cond_broadcast(&stub.changed);
	}
	stub_unlock();
	return NULL;
}

void stub_enter(struct CUstream_st *s, const struct op *op)
{
	struct op *copy = malloc(sizeof(*copy)), **p;

	*copy = *op;
	copy->next = NULL;
	for (p = &s->first; *p; p = &(*p)->next)
		;
	*p = copy;
	pthread_cond_signal(&s->more);
}

static struct CUstream_st *make_stream(struct device *d, unsigned flags)
{
	struct CUstream_st *s = calloc(1, sizeof(*s));

	s->device = d;
	s->flags = flags;
	pthread_cond_init(&s->more, NULL);
	pthread_create(&s->thread, NULL, stream_main, s);
	s->next = stub.streams;
	stub.streams = s;
	return s;
}

static void drain(struct CUstream_st *s)
{
	while (s->first && !s->device->error)
		pthread_cond_wait(&stub.changed, &stub.lock);
}

/* The default stream waits for all others of the device that do not block, and is waited for. */
struct CUstream_st *stub_stream(cudaStream_t stream)
{
	struct device *d = &stub.device[current];

	if (stream)
		return stream;
	if (!d->default_stream)
		d->default_stream = make_stream(d, 0);
	for (struct CUstream_st *s = stub.streams; s; s = s->next)
		if (s->device == d && !(s->flags & cudaStreamNonBlocking))
			drain(s);
	return d->default_stream;
}

/* Something was entered; the result of the call. Ends the critical section. */
cudaError_t stub_entered(struct CUstream_st *s, int wait)
{
	if (wait || s == s->device->default_stream)
		drain(s);
	cudaError_t err = s->device->error;

	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	stub_lock();
	cudaError_t err = stub_fails("stream") ? cudaErrorUnknown : stub.device[current].error;

	if (!err)
		*stream = make_stream(&stub.device[current], flags);
	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	struct CUstream_st **p;

	stub_lock();
	for (p = &stub.streams; *p != stream; p = &(*p)->next)
		;
	*p = stream->next;
	stream->end = 1;
	pthread_cond_signal(&stream->more);
	stub_unlock();
	pthread_join(stream->thread, NULL);
	free(stream);
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	stub_lock();
	return stub_entered(stub_stream(stream), 1);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
	stub_lock();
	struct CUstream_st *s = stub_stream(stream);

	stub_enter(s, &(struct op){ .type = OP_HOST, .f = fn, .arg = userData });
	return stub_entered(s, 0);
}

cudaError_t stub_launch(void (*f)(void *arg), const void *arg, size_t size, cudaStream_t stream)
{
	stub_lock();
	struct CUstream_st *s = stub_stream(stream);
	struct op op = { .type = OP_KERNEL, .f = f, .own = malloc(size + 1) };

	memcpy(op.own, arg, size);
	op.arg = op.own;
	op.fails = stub_fails("launch") ? cudaErrorLaunchFailure : cudaSuccess;
	stub_enter(s, &op);
	return stub_entered(s, 0);
}

int stub_overlap(void)
{
	stub_lock();
	int n = stub.overlap;

	stub_unlock();
	return n;
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	(void) flags;
	stub_lock();
	struct device *d = &stub.device[current];
	cudaError_t err = d->error;

	if (!err) {
		*event = calloc(1, sizeof(**event));
		(*event)->device = d;
	}
	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	stub_lock();
	event->destroyed = 1;
	event_left(event);
	stub_unlock();
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	stub_lock();
	struct CUstream_st *s = stub_stream(stream);

	if (s->device != event->device) {
		stub_unlock();
		return stub_note(cudaErrorInvalidResourceHandle);
	}
	event->pending++;
	stub_enter(s, &(struct op){ .type = OP_EVENT, .event = event });
	return stub_entered(s, 0);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void) flags;
	stub_lock();
	struct CUstream_st *s = stub_stream(stream);

	event->waiting++;
	stub_enter(s, &(struct op){ .type = OP_WAIT, .event = event });
	return stub_entered(s, 0);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	stub_lock();
	cudaError_t err = event->device->error;

	if (!err && event->pending)
		err = cudaErrorNotReady;
	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	stub_lock();
	while (event->pending && !event->device->error)
		pthread_cond_wait(&stub.changed, &stub.lock);
	cudaError_t err = event->device->error;

	stub_unlock();
	return stub_note(err);
}

/* ---- devices ---- */

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	stub_lock();
	cudaError_t err = stub_fails("driver")   ? cudaErrorInsufficientDriver
			  : stub_fails("device") ? cudaErrorNoDevice
						 : cudaSuccess;

	find_devices();
	*count = stub.ndevices;
	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaSetDevice(int device)
{
	if (device < 0 || device >= stub.ndevices)
		return stub_note(cudaErrorInvalidDevice);
	current = device;
	return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
	*device = current;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
	snprintf(text, (size_t) size, "0000:%02x:00.0", device + 1);
	return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device)
{
	memset(prop, 0, sizeof(*prop));
	snprintf(prop->name, sizeof(prop->name), "stub");
	prop->totalGlobalMem = stub.device[device].size;
	return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = device != peer;
	return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void) flags;
	stub_lock();
	cudaError_t err = peer == current      ? cudaErrorInvalidDevice
			  : stub_fails("peer") ? cudaErrorPeerAccessUnsupported
					       : cudaSuccess;

	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t err = last;

	last = cudaSuccess;
	return err;
}

const char *cudaGetErrorString(cudaError_t err)
{
	switch (err) {
	case cudaSuccess: return "no error";
	case cudaErrorInvalidValue: return "invalid argument";
	case cudaErrorMemoryAllocation: return "out of memory";
	case cudaErrorInsufficientDriver:
		return "CUDA driver version is insufficient for CUDA runtime version";
	case cudaErrorNoDevice: return "no CUDA-capable device is detected";
	case cudaErrorInvalidDevice: return "invalid device ordinal";
	case cudaErrorPeerAccessUnsupported:
		return "peer access is not supported between these two devices";
	case cudaErrorInvalidResourceHandle: return "invalid resource handle";
	case cudaErrorNotReady: return "device not ready";
	case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
	case cudaErrorPeerAccessAlreadyEnabled: return "peer access is already enabled";
	case cudaErrorLaunchFailure: return "unspecified launch failure";
	default: return "unknown error";
	}
}
