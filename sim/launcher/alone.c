/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program for the simulated world that is started by itself, as programs for MPI may be: it
 * becomes `orrery sim PROGRAM`, one simulated node unless $ORRERY_SIM_OPTIONS says otherwise. So
 * the checks of configure scripts run, and so do the tests of a project.
 *
 * Invariant: nothing happens in a process whose main program is another: the launcher, or a program
 * that only happens to load this library. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "calls.h"
#include "actors/sim_own.h"

#undef malloc
#undef calloc

/* The folder of this library. */
static int library_folder(char folder[PATH_MAX])
{
	Dl_info info;
	if (!dladdr(orrery_sim_alone, &info) || !realpath(info.dli_fname, folder))
		return -1;
	*strrchr(folder, '/') = 0;
	return 0;
}

/* The command `orrery` of the same installation, which may have been moved as a whole; that of the
 * build tree stands above the library. */
static int find_command(char path[PATH_MAX])
{
	static const char libdir[] = ORR_LIBDIR, command[] = ORR_BINDIR "/orrery";
	char folder[PATH_MAX];
	size_t common = 0;
	if (library_folder(folder))
		return -1;
	if (snprintf(path, PATH_MAX, "%s/../orrery", folder) < PATH_MAX && !access(path, X_OK))
		return 0;
	for (size_t i = 0; libdir[i] == command[i] && libdir[i]; i++)
		if (libdir[i] == '/')
			common = i;
	size_t rest = strlen(libdir + common), length = strlen(folder);
	if (length < rest || strcmp(folder + length - rest, libdir + common))
		snprintf(path, PATH_MAX, "%s", command);
	else
		snprintf(path, PATH_MAX, "%.*s%s", (int) (length - rest), folder, command + common);
	return access(path, X_OK);
}

/* `orrery sim --alone OPTIONS PROGRAM ARGUMENTS`. */
static char **command_line(const char *orrery, const char *program, int argc, char **argv)
{
	const char *options = getenv("ORRERY_SIM_OPTIONS");
	char *words = strdup(options ? options : "");
	char **all = words ? calloc((size_t) argc + strlen(words) + 6, sizeof(*all)) : NULL;
	int n = 0;
	if (!all)
		return NULL;
	all[n++] = (char *) orrery;
	all[n++] = "sim";
	if (!options)
		all[n++] = "--quiet";
	for (char *word = strtok(words, " \t"); word; word = strtok(NULL, " \t"))
		all[n++] = word;
	all[n++] = (char *) program;
	for (int i = 1; i < argc; i++)
		all[n++] = argv[i];
	return all;
}

int orrery_sim_alone(int argc, char **argv)
{
	char program[PATH_MAX], orrery[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *why = NULL;
	if (n < 0)
		why = "/proc/self/exe cannot be read";
	else if (find_command(orrery))
		why = "the command orrery is not where it was installed with this library";
	if (!why) {
		program[n] = 0;
		char **words = command_line(orrery, program, argc, argv);
		if (isatty(2) && !getenv("ORRERY_SIM_OPTIONS"))
			fprintf(stderr,
				"orrery: %s runs on one simulated node; `orrery sim -n N %s` gives it more\n",
				argv[0], argv[0]);
		if (words)
			execv(orrery, words);
		why = strerror(errno);
	}
	fprintf(stderr,
		"%s is for the simulated world and cannot run by itself (%s); run it with `orrery sim`\n",
		argv[0], why);
	orr_sim_leave(127);
}

/* Runs while the loader starts a process, before main(). */
static void __attribute__((constructor)) start_alone(int argc, char **argv)
{
	void *main_program = dlopen(NULL, RTLD_LAZY);
	if (main_program && dlsym(main_program, "smpi_simulated_main_"))
		orrery_sim_alone(argc, argv);
	if (main_program)
		dlclose(main_program);
}
