/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A real process answers `orrery top`: a thread of its own sleeps until somebody asks.
 *
 * Invariant: the thread is there between orr_sys_live_start and orr_sys_live_stop, and touches the
 * MPI layer only while `layer` is set, under the lock. */
#include "sys/real.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/live.h"

#define STACK_BYTES ((size_t) 256 << 10)
#define PAUSE_NS 10000000L /* after somebody who may not ask */

/* A process has one. The lock is held while the MPI layer is asked. */
static struct {
	pthread_t thread;
	int running;  /* atomic */
	int stopping; /* atomic */
	int listening;
	struct orr_process *proc;
	struct orr_live_about about;
	pthread_mutex_t lock;
	int layer;
} live = { .lock = PTHREAD_MUTEX_INITIALIZER };

int orr_real_live(void)
{
	return ORR_ATOMIC_LOAD(&live.running);
}

static void answer(int connection, int question)
{
	struct orr_process *proc = live.proc;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f) {
		close(connection);
		return;
	}
	orr_live_begin(f, &live.about, (orr_sys_now_us() - orr_real_started_us()) * 1e-6, "");
	pthread_mutex_lock(&live.lock);
	if (question == ORR_LIVE_ALL || question == proc->mpi_rank) {
		orr_live_rank(f, proc, live.layer, question != ORR_LIVE_ALL);
		fputs("}", f);
	}
	pthread_mutex_unlock(&live.lock);
	orr_live_end(f);
	if (fclose(f))
		close(connection);
	else
		orr_live_answer(connection, text, size);
	free(text);
}

static void *live_main(void *arg)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int question, ended = 0;

	(void) arg;
	pthread_setname_np(pthread_self(), "orrery-top");
	/* Without a free descriptor no socket says that it was shut down. */
	while (!ended && !ORR_ATOMIC_LOAD(&live.stopping)) {
		int connection = orr_live_accept(live.listening, &question, &ended);

		if (connection >= 0)
			answer(connection, question);
		else if (!ended)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;

	/* Signals of the program go to its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int ret = pthread_create(&live.thread, &attr, live_main, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

void orr_sys_live_start(struct orr_process *proc)
{
	live.listening = orr_live_listen(1);
	if (live.listening < 0)
		return;
	live.proc = proc;
	live.stopping = 0;
	if (!orr_live_describe(&live.about, proc) && !start_thread()) {
		ORR_ATOMIC_STORE(&live.running, 1);
		return;
	}
	free(live.about.text);
	live.about.text = NULL;
	close(live.listening);
}

void orr_sys_live_stop(struct orr_process *proc)
{
	(void) proc;
	if (!ORR_ATOMIC_LOAD(&live.running))
		return;
	ORR_ATOMIC_STORE(&live.stopping, 1);
	shutdown(live.listening, SHUT_RDWR);
	pthread_join(live.thread, NULL);
	ORR_ATOMIC_STORE(&live.running, 0);
	close(live.listening);
	free(live.about.text);
	live.about.text = NULL;
}

void orr_sys_live_layer(struct orr_process *proc, int on)
{
	(void) proc;
	pthread_mutex_lock(&live.lock);
	live.layer = on;
	pthread_mutex_unlock(&live.lock);
}
