/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stuck CASE: the program waits for what never comes, and nothing can act any more (circle, chain,
 * tag, datum, task); or something acts later, and the program ends well (thread, timer, kernel,
 * pause, callback). Driven by stuck.sh. */
#include <starpu.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/test.h"

#define LATER_US 1500000

static int slow_us;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	if (slow_us)
		usleep((useconds_t) slow_us);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "work" };
static struct starpu_codelet reads = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_R }, .name = "reader"
};

static struct starpu_task *task(const char *name)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = &cl;
	t->name = name;
	return t;
}

/* a waits for the tag of b, and b for that of a. */
static void circle(void)
{
	struct starpu_task *a = task("hen"), *b = task("egg");

	a->use_tag = b->use_tag = 1;
	a->tag_id = 1;
	b->tag_id = 2;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t) 2);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t) 1);
	OK(starpu_task_submit(a));
	OK(starpu_task_submit(b));
	OK(starpu_task_wait_for_all());
}

/* Three tasks behind one that is never submitted. */
static void chain(int waits_for_one)
{
	struct starpu_task *never = task("never"),
			   *t[3] = { task("first"), task("second"), task("third") };

	t[2]->detach = 0;
	starpu_task_declare_deps_array(t[0], 1, &never);
	starpu_task_declare_deps_array(t[1], 1, &t[0]);
	starpu_task_declare_deps_array(t[2], 1, &t[1]);
	for (int i = 0; i < 3; i++)
		OK(starpu_task_submit(t[i]));
	OK(waits_for_one ? starpu_task_wait(t[2]) : starpu_task_wait_for_all());
}

static void tag(void)
{
	OK(starpu_tag_wait(17));
}

/* The program holds what a task wants, and waits for the task. */
static void datum(void)
{
	starpu_data_handle_t h;
	int x = 0;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	OK(starpu_data_acquire(h, STARPU_RW));
	OK(starpu_task_insert(&reads, STARPU_R, h, 0));
	OK(starpu_task_wait_for_all());
}

static void *notifies(void *arg)
{
	(void) arg;
	usleep(LATER_US);
	starpu_tag_notify_from_apps(17);
	return NULL;
}

static void thread(void)
{
	pthread_t other;

	OK(pthread_create(&other, NULL, notifies, NULL));
	OK(starpu_tag_wait(17));
	OK(pthread_join(other, NULL));
}

static volatile int rang;

/* A handler of this test alone: it ends the program, which waits. */
static void on_alarm(int sig)
{
	(void) sig;
	rang = 1;
	_exit(0);
}

static void timer(void)
{
	struct itimerval in = { .it_value = { .tv_sec = 1, .tv_usec = 500000 } };

	signal(SIGALRM, on_alarm);
	OK(setitimer(ITIMER_REAL, &in, NULL));
	OK(starpu_tag_wait(17));
}

static void kernels(void)
{
	slow_us = LATER_US;
	OK(starpu_task_insert(&cl, 0));
	OK(starpu_task_wait_for_all());
}

static void slow_callback(void *arg)
{
	(void) arg;
	usleep(LATER_US);
}

static void callback(void)
{
	OK(starpu_task_insert(&cl, STARPU_CALLBACK, slow_callback, 0));
	OK(starpu_task_wait_for_all());
}

/* Many quick waits, while workers fall asleep and wake up. */
static void busy(void)
{
	for (int i = 0; i < 20000; i++) {
		OK(starpu_task_insert(&cl, 0));
		if (i % 3 == 0)
			OK(starpu_task_wait_for_all());
	}
	OK(starpu_task_wait_for_all());
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "busy";
	struct starpu_conf conf;

	OK(starpu_conf_init(&conf));
	conf.ncpus = 2;
	if (test_skips(starpu_init(&conf)))
		return 77;
	if (!strcmp(what, "circle"))
		circle();
	else if (!strcmp(what, "chain") || !strcmp(what, "task"))
		chain(!strcmp(what, "task"));
	else if (!strcmp(what, "tag"))
		tag();
	else if (!strcmp(what, "datum"))
		datum();
	else if (!strcmp(what, "thread"))
		thread();
	else if (!strcmp(what, "timer"))
		timer();
	else if (!strcmp(what, "kernel"))
		kernels();
	else if (!strcmp(what, "callback"))
		callback();
	else
		busy();
	starpu_shutdown();
	return 0;
}
