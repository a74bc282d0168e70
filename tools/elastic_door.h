/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The door of an elastic run, at which the registry listens: for the processes of the run, and for
 * the resource manager.
 *
 * Invariant: it listens where processes of the run can come from, and nowhere else. */
#ifndef ORR_TOOLS_ELASTIC_DOOR_H
#define ORR_TOOLS_ELASTIC_DOOR_H

#include <stddef.h>

/* The run's key: 128 random bits as a text of 32 digits. 0, or -1 with errno. */
int orr_door_key(char key[33]);
/* Compares a peer's key in a time that does not depend on where it is wrong. */
int orr_door_opens(const char key[33], const char *theirs);
/* A socket that listens for processes; ADDRESS:PORT of it, as they reach it, goes into `text`.
 * hosts: the hosts of the run with commas between them, "?" when there are several that are not
 * known, NULL when there is none but this one. The system drops connections that are not signed
 * with the key (dyn/signature.h), if it can and $ORRERY_DYN_SIGNED is not 0; *is_signed says so. -1
 * after a message in `text`. */
int orr_door_processes(const char *hosts, const char *key, char *text, size_t size, int *is_signed);
/* A socket at that path, which this user alone can connect to. What a registry that was killed left
 * there is replaced. -1 after a message in `why`. */
int orr_door_manager(const char *path, char *why, size_t size);
/* True if the other end of such a socket is this user or root. */
int orr_door_is_ours(int fd);

#endif
