/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profiling tool of the user (see tool.h). */
#include "trace/tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/log.h"

#define NEVENTS (starpu_prof_tool_event_user_end + 1)
#define NFUNCTIONS 8

struct slot {
	starpu_prof_tool_cb_func call; /* atomic: NULL, then a function for good */
	int on;                        /* atomic */
};

struct orr_tool {
	orr_lock_t lock; /* protects changes of slots */
	struct slot slots[NEVENTS][NFUNCTIONS];
};

/* The slot of a function, or a free one if it has none and `make` says so; NULL if there is none.
 * Under the lock. */
static struct slot *find(struct orr_tool *tool, enum starpu_prof_tool_event event,
			 starpu_prof_tool_cb_func call, int make)
{
	orr_assert_locked(&tool->lock);
	for (unsigned i = 0; i < NFUNCTIONS; i++) {
		struct slot *s = &tool->slots[event][i];

		if (s->call == call || (!s->call && make))
			return s;
		if (!s->call)
			return NULL;
	}
	return NULL;
}

/* Changes who is told of an event, as a function of the tool asks for it by its name. */
static void change(const char *who, enum starpu_prof_tool_event event,
		   starpu_prof_tool_cb_func call, enum starpu_prof_tool_command command, int on)
{
	struct orr_tool *tool = orr_self()->tool;

	if (!tool || !call || (unsigned) event >= NEVENTS ||
	    (command != starpu_prof_tool_command_reg &&
	     command != starpu_prof_tool_command_toggle)) {
		orr_error(
			"%s of a profiling tool: event %d, function %p, command %d is refused; commands for one thread are not possible",
			who, (int) event, (void *) (uintptr_t) call, (int) command);
		return;
	}
	orr_lock(&tool->lock);
	struct slot *s = find(tool, event, call, on);
	if (s) {
		on = command == starpu_prof_tool_command_toggle ? !s->on : on;
		ORR_ATOMIC_STORE(&s->on, on);
		ORR_ATOMIC_STORE(&s->call, call);
	}
	orr_unlock(&tool->lock);
	if (!s && on)
		orr_error(
			"%s of a profiling tool: event %d has %d functions, more are not possible",
			who, (int) event, NFUNCTIONS);
}

static void reg(enum starpu_prof_tool_event event, starpu_prof_tool_cb_func call,
		enum starpu_prof_tool_command command)
{
	change("reg", event, call, command, 1);
}

static void unreg(enum starpu_prof_tool_event event, starpu_prof_tool_cb_func call,
		  enum starpu_prof_tool_command command)
{
	change("unreg", event, call, command, 0);
}

int orr_tool_init(struct orr_process *proc)
{
	const char *path = proc->cfg->prof_tool, *why = NULL;
	starpu_prof_tool_entry_func entry;

	proc->tool = NULL;
	if (!path || !*path)
		return 0;
	void *object = orr_sys_library_open(proc, path, &why);
	if (!object) {
		orr_error("STARPU_PROF_TOOL: %s", why);
		return -EINVAL;
	}
	entry = (starpu_prof_tool_entry_func) dlsym(object, "starpu_prof_tool_library_register");
	if (!entry) {
		orr_error("STARPU_PROF_TOOL: %s does not define starpu_prof_tool_library_register",
			  path);
		return -EINVAL;
	}
	proc->tool = calloc(1, sizeof(*proc->tool));
	if (!proc->tool)
		return -ENOMEM;
	orr_lock_init(&proc->tool->lock, ORR_RANK_TRACE);
	proc->observed |= ORR_OBSERVED_BY_TOOL;
	entry(reg, unreg);
	orr_tool_tell_process(proc, starpu_prof_tool_event_init);
	orr_tool_tell_process(proc, starpu_prof_tool_event_init_begin);
	return 0;
}

void orr_tool_exit(struct orr_process *proc)
{
	orr_tool_tell_process(proc, starpu_prof_tool_event_terminate);
	free(proc->tool);
	proc->tool = NULL;
	proc->observed &= ~ORR_OBSERVED_BY_TOOL;
}

void orr_tool_tell(struct orr_process *proc, enum starpu_prof_tool_event event,
		   struct starpu_prof_tool_info info)
{
	struct slot *s = proc->tool->slots[event];
	union starpu_prof_tool_event_info of_event = { .event_type = event };
	struct starpu_prof_tool_api_info of_api = { .driver_type = info.driver_type };

	orr_assert_no_lock();
	info.conf = proc->conf;
	info.event_type = event;
	info.starpu_version[0] = STARPU_MAJOR_VERSION;
	info.starpu_version[1] = STARPU_MINOR_VERSION;
	info.starpu_version[2] = STARPU_RELEASE_VERSION;
	info.thread_id = info.worker_id;
	for (unsigned i = 0; i < NFUNCTIONS; i++) {
		starpu_prof_tool_cb_func call = ORR_ATOMIC_LOAD(&s[i].call);

		if (!call)
			return;
		if (ORR_ATOMIC_LOAD(&s[i].on))
			call(&info, &of_event, &of_api);
	}
}

void orr_tool_tell_process(struct orr_process *proc, enum starpu_prof_tool_event event)
{
	if (proc->tool)
		orr_tool_tell(
			proc, event,
			(struct starpu_prof_tool_info){ .worker_id = -1, .device_number = -1 });
}

void orr_tool_transfer_slow(struct orr_process *proc, int ends, unsigned node, int device,
			    size_t bytes)
{
	unsigned told = bytes > UINT_MAX ? UINT_MAX : (unsigned) bytes;

	orr_tool_tell(proc,
		      ends ? starpu_prof_tool_event_end_transfer
			   : starpu_prof_tool_event_start_transfer,
		      (struct starpu_prof_tool_info){
			      .worker_id = -1,
			      .device_number = device,
			      .driver_type = device >= 0 ? starpu_prof_tool_driver_gpu
							 : starpu_prof_tool_driver_cpu,
			      .memnode = node,
			      .bytes_to_transfer = ends ? 0 : told,
			      .bytes_transfered = ends ? told : 0 });
}
