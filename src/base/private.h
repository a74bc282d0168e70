/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders and files of this user below a place that others know by name, such as
 * $HOME/.starpu: another user may have made them first, or put links there.
 *
 * Invariant: what is opened here is a regular file of this user, and no link was followed to it. */
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
/* [any] What an error of these functions means. */
const char *orr_private_why(int err);

#endif
