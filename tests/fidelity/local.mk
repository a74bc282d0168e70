# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of `make fidelity`: predictions beside real runs of this machine. FIDELITY holds options of the script;
# with --hosts they are real runs on hosts with shaped links, of a program of its own; with --books, what workers did with
# their time is compared.
orr_fidelity_programs =
if ORR_MPI
orr_fidelity_programs += tests/fidelity/bed tests/real/late
endif
if ORR_SIM
orr_fidelity_programs += tests/fidelity/bed.sim
endif
fidelity: all $(orr_fidelity_programs)
	@$(PYTHON) -B $(srcdir)/tests/fidelity/fidelity.py --build . --output fidelity $(FIDELITY)
.PHONY: fidelity
