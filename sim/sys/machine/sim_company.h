/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Company: kernels that run on one computer at once slow each other down as its description says
 * (bus/NAME.contention, base/contention.h). The kernels of all ranks on a computer count; those of
 * devices do not, and neither do the runtime's own threads.
 *
 * Invariant: a computer that nobody described has no company, and its kernels take the time of
 * their models; a kernel that is alone on its computer does so on any. */
#ifndef ORR_SIM_COMPANY_H
#define ORR_SIM_COMPANY_H

struct orr_contention;
struct orr_kernel;
struct orr_sim_company;
struct orr_sim_rank;
struct starpu_task;

/* The company of a computer, with its description, which stays; or NULL: no memory. */
struct orr_sim_company *orr_sim_company_make(const struct orr_contention *t, unsigned ncores);
/* A kernel of the rank begins that would end at end_us: when it ends. It is in no heap yet. Those
 * beside it end later. */
double orr_sim_company_enter(struct orr_sim_rank *r, struct orr_kernel *k, double end_us);
/* It is over. Returns whether others end earlier now: then, when everything is in order,
 * orr_sim_company_wake() [waits]. */
int orr_sim_company_leave(struct orr_sim_rank *r, const struct orr_kernel *k);
void orr_sim_company_wake(const struct orr_sim_rank *r);
/* A kernel whose model was measured has begun on a computer that has no company. More kernels at
 * once than its machine has CPUs were never measured: then the summary names it. */
void orr_sim_company_unmeasured(const struct orr_sim_rank *r, const struct starpu_task *t);

#endif
