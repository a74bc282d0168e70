/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of a simulation at its end (sim_report.c).
 *
 * Invariant: stated in sim_report.c. */
#ifndef ORR_SIM_REPORT_H
#define ORR_SIM_REPORT_H

int orr_sim_report_write(void);

#endif
