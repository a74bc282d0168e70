/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linked into each program for the simulated world.
 *
 * The launcher enters the program by smpi_simulated_main_(), which is exported even if a program
 * hides all of its names. The name of the loader makes the shared object one that the system can
 * start by itself: the loader then loads liborrery-sim, which takes over before main() and runs the
 * program on one simulated node (sim/launcher/alone.c).
 *
 * Invariant: nothing but entry and end is here; each copy of a program has this as well. */
int main(int argc, char **argv, char **environment);

__attribute__((visibility("default"))) int smpi_simulated_main_(int argc, char **argv);

extern char **environ;

int smpi_simulated_main_(int argc, char **argv)
{
	return main(argc, argv, environ);
}

/* Functions that this copy gave to atexit(), and the destructors of its objects of C++; the
 * launcher calls it at the end of the rank. */
extern void *__dso_handle __attribute__((visibility("hidden")));
void __cxa_finalize(void *object);

__attribute__((visibility("default"))) void orrery_sim_exit_functions(void);

/* Programs in Fortran buffer their output in a library that writes it out when it is unloaded,
 * which the first rank's is not: a rank does it when the rank ends. */
extern void _gfortran_flush_i4(int *unit) __attribute__((weak));

void orrery_sim_exit_functions(void)
{
	if (_gfortran_flush_i4)
		_gfortran_flush_i4(0);
	__cxa_finalize(&__dso_handle);
}

#ifdef ORR_INTERPRETER
extern const char orrery_sim_interpreter[];
const char orrery_sim_interpreter[]
	__attribute__((section(".interp"), used, visibility("hidden"))) = ORR_INTERPRETER;
#endif
