# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of `make fidelity`: predictions beside real runs of this machine. FIDELITY holds options of the script.
fidelity: all
	@$(PYTHON) $(srcdir)/tests/fidelity/fidelity.py --build . --output fidelity $(FIDELITY)
.PHONY: fidelity
