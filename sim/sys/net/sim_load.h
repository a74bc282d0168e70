/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The load of links over time, for a trace: how much of its bandwidth each link gave, and for how
 * long it was full. Models tell it; of SimGrid's own, sim/launcher/loads.cpp does.
 *
 * Invariant: nothing here changes what a model does; memory for a link is bounded, whatever the
 * length of the run. */
#ifndef ORR_SIM_LOAD_H
#define ORR_SIM_LOAD_H

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_link;
struct orr_sim_load;

/* Somebody wants to know; set once, at the begin of a run. */
extern int orr_sim_loads_watched;

/* share: messages on these links, which `next` joins, have come, gone, or got other rates; on those
 * of a route at that time, which is not after now. */
void orr_sim_load_changed(struct orr_sim_link *first);
void orr_sim_load_of_route(const unsigned *links, unsigned n, double at_s);
/* share: the links of a route had one message alone since then, until now, which got that rate. */
void orr_sim_load_of_one(const unsigned *links, unsigned n, double since_s, double rate);
/* queue: the link served a message in one of its channels. */
void orr_sim_load_served(struct orr_sim_link *l, double begin_s, double end_s);
/* SimGrid's own: the link gave that many bytes per second. */
void orr_sim_load_gave(struct orr_sim_link *l, double begin_s, double end_s, double rate);

#ifdef __cplusplus
}
#endif
#endif
