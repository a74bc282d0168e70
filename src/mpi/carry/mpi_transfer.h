/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving payloads. By the engine's owner.
 *
 * Invariant: a request completes once, when its payload has left or is in its datum. */
#ifndef ORR_MPI_MPI_TRANSFER_H
#define ORR_MPI_MPI_TRANSFER_H

#include "mpi/carry/flight_record.h"

struct orr_mpi;
struct orr_mpi_payload;

void orr_mpi_send_start(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* It is an envelope's turn to be matched; its payload follows when eager. */
void orr_mpi_envelope_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
			 const char *payload, int source);
/* The datum of a receive that has an early message became available. */
void orr_mpi_recv_early(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* A message of this file completed: of kind OUT, DATA_IN or EARLY_IN. */
void orr_mpi_transfer_done(struct orr_mpi *mpi, struct orr_mpi_flight *f);
/* Receives large early messages that nobody asked for in time. Returns how many were started. */
int orr_mpi_early_load(struct orr_mpi *mpi);
/* The request is complete: releases the datum, tells whoever waits. */
void orr_mpi_complete(struct orr_mpi *mpi, struct orr_mpi_req *req);
void *orr_mpi_buffer(size_t size);
/* The engine has copied so many bytes, which takes its time in the simulated world. */
void orr_mpi_spend_copy(size_t bytes);
/* The engine has ended: drops the messages that nobody asked for. */
void orr_mpi_early_exit(struct orr_mpi *mpi);

/* Enters a message; returns the receive that takes it now, or NULL after keeping it as *kept. */
struct orr_mpi_req *orr_mpi_take(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
				 int source, struct orr_mpi_early **kept);
/* Describes the datum to receive into and checks its size. */
void orr_mpi_describe_receive(struct orr_mpi *mpi, struct orr_mpi_req *req,
			      const struct orr_mpi_envelope *env, int source,
			      struct orr_mpi_payload *p);
/* Puts a payload that lies in a buffer into the datum and completes the receive; takes the buffer
 * when `owned`. */
void orr_mpi_deliver(struct orr_mpi *mpi, struct orr_mpi_req *req,
		     const struct orr_mpi_envelope *env, int source, void *buf, int owned);
/* The payload of a kept message is here now. */
void orr_mpi_payload_here(struct orr_mpi *mpi, struct orr_mpi_early *e);
/* The first of n consecutive numbers that no payload under way has, and the tag of one of them. */
int orr_mpi_next_data_tags(struct orr_mpi *mpi, uint32_t n);
int orr_mpi_data_tag(const struct orr_mpi *mpi, int first, uint32_t i);
void orr_mpi_free_buffer(void *buf, size_t size);

#endif
