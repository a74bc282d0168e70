/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A link carries messages between the processes of a program that does not communicate itself: the
 * master of slaves, and the slaves (drivers/slave.h). Only a library with MPI in it has a link, and
 * it registers its functions here when it is loaded; orr_sys_link_load() loads it.
 *
 * There are two kinds of messages. A note is short, and comes to the function that its receiver
 * gave. A payload has a tag, and goes from the buffer that one side posts to the buffer that the
 * other side posts. Notes from one process to another arrive in the order in which they were
 * posted.
 *
 * The link has one thread of its own, which makes all calls of MPI and all calls of `done` and
 * `note`. These may post letters, and must not wait.
 *
 * Invariant: a letter and its buffer are the link's from the moment that the letter is posted until
 * `done` is called. */
#ifndef ORR_BASE_LINK_H
#define ORR_BASE_LINK_H

#include "base/process.h"

enum orr_letter_kind { ORR_LETTER_NOTE, ORR_LETTER_OUT, ORR_LETTER_IN };

/* Rows of bytes: count rows of size bytes, stride bytes apart. */
struct orr_rows {
	uintptr_t at;
	size_t size, count, stride;
};

/* A message, or the receive of a payload. */
struct orr_letter {
	struct orr_letter *next; /* the link's */
	enum orr_letter_kind kind;
	int peer;             /* rank of the other side */
	int tag;              /* of a payload; unique among those under way between two ranks */
	struct orr_rows rows; /* the buffer; one row, if it is a note */
	void (*done)(struct orr_process *proc, struct orr_letter *l);
};

/* The needs and functions of a user of the link. */
struct orr_link_user {
	size_t longest; /* a note has at most that many bytes */
	/* A note came. The text stays until the function returns. */
	void (*note)(struct orr_process *proc, int from, const void *text);
};

struct orr_link_ops {
	/* [main] [waits] Meets the other processes. Sets *rank and *size. 0 or -errno after a
	 * message. */
	int (*join)(struct orr_process *proc, int *rank, int *size);
	/* [main] [waits] The opposite of join: no process may need another one any more. */
	void (*leave)(struct orr_process *proc);
	/* [main] [waits] Starts the link's thread. Tags of payloads go from 1 to *tags. 0 or -errno
	 * after a message. */
	int (*open)(struct orr_process *proc, const struct orr_link_user *user, int *tags);
	/* [main] [waits] Ends the thread when all letters are done. */
	void (*close)(struct orr_process *proc);
	/* [any] [waits] Posts a letter. */
	void (*post)(struct orr_process *proc, struct orr_letter *l);
};

/* Registers the functions of a link; the table is constant. */
void orr_link_register(const struct orr_link_ops *ops);
/* The link that was registered last, or NULL. */
const struct orr_link_ops *orr_link_known(void);

#endif
