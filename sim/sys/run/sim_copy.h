/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of copies of shared objects: of programs, of their libraries, and of those that users
 * bring.
 *
 * Invariant: copies of different numbers or folders have different paths, because the loader takes
 * equal paths for the same object. */
#ifndef ORR_SIM_COPY_H
#define ORR_SIM_COPY_H

#include <stdio.h>
#include <unistd.h>

/* Names a memory file: below /proc/PID/folder, "./" and ".//" spell the number in binary. Debuggers
 * open the path as well, so it names this process, not "self". */
static inline void orr_sim_copy_name(char *path, size_t room, const char *folder, unsigned number,
				     int fd)
{
	int n = snprintf(path, room, "/proc/%d/%s/", (int) getpid(), folder);
	for (unsigned bits = number; bits; bits >>= 1)
		n += snprintf(path + n, room - (size_t) n, bits & 1 ? ".//" : "./");
	snprintf(path + n, room - (size_t) n, "%d", fd);
}

#endif
