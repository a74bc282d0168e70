/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words travel over a stream in the real world like this: a head of two numbers of four bytes in
 * the byte order of the network, the bytes that follow it and a ticket, and then the words.
 *
 * Invariant: a reader never trusts a length that is above its limit. */
#ifndef ORR_SYS_DYN_WIRE_H
#define ORR_SYS_DYN_WIRE_H

#include "dyn/words.h"

#define ORR_DYN_WIRE_MOST (64u << 20)

/* Writes all of it, waiting for room. 0, or -1: the other end is gone. */
int orr_dyn_wire_send(int fd, unsigned ticket, const struct orr_dyn_words *words);
/* Waits for the next words. 0, or -1: the other end is gone, or sent nonsense. */
int orr_dyn_wire_receive(int fd, unsigned *ticket, struct orr_dyn_words *words);

#endif
