# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the benchmarks: tests/bench/*.c are programs of both worlds, sim_*.c of the
# simulated one alone. Only `make bench` builds them; run-bench runs them and the scripts.
orr_bench_programs =
orr_bench_sims =
include %D%/sources.mk
EXTRA_PROGRAMS += $(orr_bench_programs)
EXTRA_DIST += $(orr_bench_extra)
CLEANFILES += $(orr_bench_programs) $(orr_bench_sims)
# Kernels for GPUs that are really there.
orr_spin_cuda =
if ORR_NVCC
orr_spin_cuda += tests/lib/spin_cuda.o $(CUDA_EXAMPLE_LIBS)
tests/lib/spin_cuda.o: tests/lib/spin_cuda.cu
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) -O2 -Xcompiler '-fPIC $(CFLAGS)' -c -o $@ $<
CLEANFILES += tests/lib/spin_cuda.o
endif
tests_bench_device_rate_LDADD += $(orr_spin_cuda)
tests_bench_device_stream_LDADD += $(orr_spin_cuda)
tests_bench_device_wait_LDADD += $(orr_spin_cuda)
orr_bench_built =
if ORR_MPI
orr_bench_built += $(orr_bench_programs)
endif
if ORR_SIM
# Two programs of tests are simulated here, too (sim_releases.sh).
orr_bench_built += $(orr_bench_sims) tests/sim/collectives.sim tests/sim/late.sim
endif

$(orr_bench_sims): %.sim: %.c $(orr_headers_dep) $(orr_test_headers) | $(orr_sim_order)
	$(orr_sim_link) $(orr_test_includes) $(filter %.c,$^) $(OPENCL_LIBS)

bench: all $(orr_bench_built)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/bench/run-bench $(BENCH)

# Strong and weak scaling, real and simulated; SCALING holds options of the script.
scaling: all
	@$(PYTHON) $(srcdir)/tests/bench/scaling.py --build . $(SCALING)
.PHONY: scaling
