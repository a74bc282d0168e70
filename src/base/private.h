/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders and files of this user at places that others know by name, such as $HOME/.starpu or a
 * file in /tmp: another user may have made them first, or put links there.
 *
 * Invariant: what is opened here was not put there by somebody who has no business there. */
#ifndef ORR_BASE_PRIVATE_H
#define ORR_BASE_PRIVATE_H

/* [any] Makes the folders that the path stands in, with mode 0700, where they are missing. Returns
 * 0 or -errno. */
int orr_private_parents(const char *path);
/* [any] Makes the folder and those above it that are missing, with mode 0700. Returns 0; -EPERM: it
 * is not this user's, or others may write there; or -errno. No message: orr_private_why() has
 * words. */
int orr_private_folder(const char *path);
/* [any] Opens a file of this user: flags as for open(), with O_CREAT it gets mode 0600. Returns a
 * descriptor; -EPERM: it is another user's, or no file; or -errno. No message. */
int orr_private_open(const char *path, int flags);
/* [any] Opens a file for results, which gets the mode that the user's mask says. Where everybody
 * may write, it has to be this user's, without another name, and no link is followed; elsewhere
 * whoever may write into the folder is trusted. With O_TRUNC it is emptied if it is accepted.
 * Returns a descriptor or -errno. No message. */
int orr_private_output(const char *path, int flags);
/* [any] Takes the lock of an open file, flock(). Others who may read the file may hold it, so this
 * waits for some seconds only. Returns 0; -EBUSY: somebody does not give it back; or -errno. */
int orr_private_lock(int fd);
/* [any] What an error of these functions means. */
const char *orr_private_why(int err);

#endif
