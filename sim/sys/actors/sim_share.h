/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of a program that work for the runtime (they submit tasks, for one) share the cores of
 * their node when they are more than it has.
 *
 * Each takes a core for as long as its work lasts; who finds none waits for the one that is free
 * first. A program with as many threads as cores, or fewer, is not delayed. What such work takes
 * from kernels is another matter (orr_sim_cores_steal).
 *
 * Invariant: a core has one of these threads at a time. */
#ifndef ORR_SIM_SHARE_H
#define ORR_SIM_SHARE_H

/* The program of the rank has one thread more, or less, beside its main thread. */
void orr_sim_share_thread(int rank, int more);
/* Another process begins on the rank. */
void orr_sim_share_renew(int rank);
/* A thread of the program works for so long, in microseconds, from now on, on a node with so many
 * cores: when it is done. */
double orr_sim_share_until_us(int rank, unsigned cores, double now_us, double us);

#endif
