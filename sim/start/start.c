/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linked into each program for the simulated world.
 *
 * The launcher enters the program by smpi_simulated_main_(), which is exported even if a program
 * hides all of its names. The name of the loader makes the shared object one that the system can
 * start by itself: the loader then loads liborrery-sim, which takes over before main() and runs the
 * program on one simulated node (sim/launcher/alone.c).
 *
 * Invariant: nothing else is here; each copy of a program has this as well. */
int main(int argc, char **argv, char **environment);

__attribute__((visibility("default"))) int smpi_simulated_main_(int argc, char **argv);

extern char **environ;

int smpi_simulated_main_(int argc, char **argv)
{
	return main(argc, argv, environ);
}

#ifdef ORR_INTERPRETER
extern const char orrery_sim_interpreter[];
const char orrery_sim_interpreter[]
	__attribute__((section(".interp"), used, visibility("hidden"))) = ORR_INTERPRETER;
#endif
