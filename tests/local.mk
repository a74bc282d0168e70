# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the tests. The folder decides what a program links with and
# where it runs (tests/README.md): core, data: core only, both worlds; mpi, bad:
# with MPI, both worlds; real, unit: real only; sim: simulated only.
orr_core_test_programs =
orr_core_tests =
orr_unit_test_programs =
orr_unit_tests =
orr_cuda_test_programs =
orr_cuda_tests =
orr_gpu_test_programs =
orr_mpi_test_programs =
orr_mpi_tests =
orr_elastic_test_programs =
orr_elastic_tests =
orr_sim_test_programs =
orr_sim_tests =
orr_script_tests =
orr_test_includes = -I$(srcdir)/tests -I$(srcdir)/tests/lib
orr_core_cppflags = $(orr_includes) $(orr_test_includes) $(HWLOC_CFLAGS)
orr_core_ldadd = liborrery.la $(OPENCL_LIBS) $(ORR_SYS_LIBS)
# The stub of the CUDA runtime, and programs with kernels for it.
orr_cuda_cppflags = $(orr_core_cppflags) -DSTARPU_USE_CUDA=1 -I$(srcdir)/tests/lib/cudart/include
orr_cuda_ldadd = $(orr_core_ldadd) tests/lib/cudart/libcudart.la
check_LTLIBRARIES += tests/lib/cudart/libcudart.la
tests_lib_cudart_libcudart_la_SOURCES = tests/lib/cudart/cudart.c tests/lib/cudart/cudart_memory.c tests/lib/cudart/cudart_pinned.c tests/lib/cudart/cudart_handles.c
tests_lib_cudart_libcudart_la_CPPFLAGS = -I$(srcdir)/tests/lib/cudart/include
tests_lib_cudart_libcudart_la_CFLAGS = $(AM_CFLAGS)
tests_lib_cudart_libcudart_la_LDFLAGS = -module -avoid-version -shared -rpath $(abs_builddir)/tests/lib/cudart
orr_unit_cppflags = $(orr_defines) $(orr_real_includes) $(orr_test_includes) -I$(srcdir)/sim/sys $(HWLOC_CFLAGS)
orr_unit_ldadd = libcore.la $(HWLOC_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
orr_mpi_cppflags = $(orr_includes) $(orr_test_includes) $(HWLOC_CFLAGS) $(MPI_CPPFLAGS)
orr_mpi_ldadd = liborrery-mpi.la liborrery.la $(MPI_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
orr_elastic_cppflags = $(orr_mpi_cppflags)
orr_elastic_ldadd = $(orr_dyn_ldadd) $(orr_mpi_ldadd)
include %D%/sources.mk

# The scripts come first, those that wait before all others (build-aux/sources.sh): they take longest, and the short programs fill
# the cores until the end.
TESTS += $(orr_script_tests)

# Programs and tests of this configuration in the real world.
orr_test_programs = $(orr_core_test_programs) $(orr_unit_test_programs)
TESTS += $(orr_core_tests) $(orr_unit_tests)
if ORR_CUDA
orr_test_programs += $(orr_cuda_test_programs)
TESTS += $(orr_cuda_tests)
endif
if ORR_NVCC
orr_test_programs += $(orr_gpu_test_programs)
endif
if ORR_MPI
orr_test_programs += $(orr_mpi_test_programs) $(orr_elastic_test_programs)
if ORR_MPI_CHECK
TESTS += $(orr_mpi_tests) $(orr_elastic_tests)
endif
endif
orr_check_all += $(orr_test_programs)

# Rules of our own: those that Automake makes for each of some 300 programs are twice as long as all the rest,
# and libtool's script takes five times as long as the linker.
orr_test_v = $(orr_test_v_$(V))
orr_test_v_ = $(orr_test_v_$(AM_DEFAULT_VERBOSITY))
orr_test_v_0 = @echo "  TEST    " $@;
orr_test_compile = $(orr_test_v)$(MKDIR_P) $(@D) && $(CC) $(DEFS) $(DEFAULT_INCLUDES)
# Lines and functions are what backtraces need of them; all the rest of -g is a sixth of the compiler's time.
orr_test_cflags = $(patsubst -g,-g1,$(CFLAGS))
orr_test_object = $(CPPFLAGS) $(AM_CFLAGS) $(orr_test_cflags) -MMD -MP -MF $@.d -MT $@ -c -o $@.o $<
if ORR_SHARED
orr_test_link = $(CC) $(AM_CFLAGS) $(orr_test_cflags) $(LDFLAGS) -rdynamic -Wl,-rpath,$(abs_builddir)/.libs -o $@
orr_core_test_link = -L.libs -lorrery $(OPENCL_LIBS) $(ORR_SYS_LIBS)
orr_unit_test_link = .libs/libcore.a $(HWLOC_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
orr_cuda_test_link = $(orr_core_test_link) -Wl,-rpath,$(abs_builddir)/tests/lib/cudart/.libs tests/lib/cudart/.libs/libcudart.so
orr_mpi_test_link = -L.libs -lorrery-mpi -lorrery $(MPI_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
orr_elastic_test_link = -L.libs $(ORR_NO_AS_NEEDED) -lorrery-dyn $(orr_mpi_test_link)
else
orr_test_link = $(LINK)
orr_core_test_link = $(orr_core_ldadd)
orr_unit_test_link = $(orr_unit_ldadd)
orr_cuda_test_link = $(orr_cuda_ldadd)
orr_mpi_test_link = $(orr_mpi_ldadd)
orr_elastic_test_link = $(orr_elastic_ldadd)
$(orr_core_test_programs) $(orr_cuda_test_programs) $(orr_mpi_test_programs) $(orr_elastic_test_programs): liborrery.la
$(orr_mpi_test_programs) $(orr_elastic_test_programs): liborrery-mpi.la
endif
# Tests of the core see neither MPI nor internal headers: one object serves both worlds, position-independent as simulated
# programs are.
orr_core_test_objects = $(orr_core_test_programs:=.both.o)
$(orr_core_test_objects): %.both.o: %.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -fPIC -I. $(orr_public_includes) $(orr_test_includes) $(HWLOC_CFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(orr_test_cflags) -MMD -MP -MF $*.d -MT $@ -c -o $@ $<
$(orr_core_test_programs): %: %.both.o | liborrery.la
	$(orr_test_v)$(orr_test_link) $< $(orr_core_test_link)
$(orr_unit_test_programs): %: %.c libcore.la
	$(orr_test_compile) $(orr_unit_cppflags) $(orr_test_object) && $(orr_test_link) $@.o $(orr_unit_test_link)
$(orr_cuda_test_programs): %: %.c | liborrery.la tests/lib/cudart/libcudart.la
	$(orr_test_compile) $(orr_cuda_cppflags) $(orr_test_object) && $(orr_test_link) $@.o $(orr_cuda_test_link)
$(orr_gpu_test_programs): %: %.c %.cu | liborrery.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) -O2 $(orr_includes) $(orr_test_includes) -Xcompiler '-fPIC $(CFLAGS)' -c -o $@_cu.o $(filter %.cu,$^)
	$(orr_test_compile) $(orr_core_cppflags) $(orr_test_object) && $(orr_test_link) $@.o $@_cu.o $(orr_core_test_link) $(CUDA_MATRIX_LIBS)
$(orr_mpi_test_programs): %: %.c | liborrery-mpi.la liborrery.la
	$(orr_test_compile) $(orr_mpi_cppflags) $(orr_test_object) && $(orr_test_link) $@.o $(orr_mpi_test_link)
$(orr_elastic_test_programs): %: %.c | liborrery-dyn.la liborrery-mpi.la liborrery.la
	$(orr_test_compile) $(orr_elastic_cppflags) $(orr_test_object) && $(orr_test_link) $@.o $(orr_elastic_test_link)
-include $(orr_test_programs:=.d)
MOSTLYCLEANFILES += $(orr_test_programs) $(orr_core_test_objects) $(orr_test_programs:=.o) $(orr_test_programs:=.d) $(orr_gpu_test_programs:=_cu.o)

if ORR_SIM
orr_check_all += $(orr_sim_test_programs)
TESTS += $(orr_sim_tests)
endif

# The commands of `orrery cc --sim', asked for once and not twice for each of some hundred programs: `sim-cc WORDS' for an
# object, `sim-cc --link WORDS' for a program.
tests/sim-cc: orrery $(srcdir)/tools/orrery_cc.py Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
		echo 'case $$1 in --link) shift ;; *)' && ./orrery cc --sim --show -c '"$$@"' && echo 'exit ;; esac' && \
		./orrery cc --sim --show '"$$@"'; } > $@.tmp && mv -f $@.tmp $@
# In two steps: a compiler cache keeps objects only.
orr_sim_core_programs = $(filter $(orr_core_test_programs:=.sim),$(orr_sim_test_programs))
orr_sim_test_link = $(SHELL) tests/sim-cc --link $(orr_test_cflags) -o $@
$(orr_sim_core_programs): %.sim: %.both.o | $(orr_sim_order) tests/sim-cc
	$(orr_sim_link_v)$(orr_sim_test_link) $< $(OPENCL_LIBS)
$(filter-out $(orr_sim_core_programs),$(orr_sim_test_programs)): %.sim: %.c $(orr_headers_dep) $(orr_test_headers) | $(orr_sim_order) tests/sim-cc
	$(orr_sim_link_v)$(MKDIR_P) $(@D) && $(SHELL) tests/sim-cc $(CUDA_CFLAGS) -std=gnu11 -D_GNU_SOURCE= $(ORR_WARNINGS) $(orr_test_cflags) $(CPPFLAGS) -I$(top_builddir) \
		-MMD -MP -MF $@.d -MT $@ $(orr_test_includes) -o $@.o $< && $(orr_sim_test_link) $@.o $(OPENCL_LIBS)
-include $(orr_sim_test_programs:=.d)
MOSTLYCLEANFILES += tests/sim-cc

# All that tests need, without running any.
check-programs: $(check_LTLIBRARIES) $(check_DATA)
.PHONY: check-programs

# How tests are run is the business of one script; see its head for what the
# variables mean and for the directives that a test may carry.
LOG_COMPILER = $(SHELL) $(srcdir)/tests/lib/run-test
AM_TESTS_ENVIRONMENT = \
	ORR_TEST_SRCDIR='$(abs_srcdir)'; ORR_TEST_BUILDDIR='$(abs_builddir)'; \
	ORR_TEST_FACTOR="$${ORR_TEST_FACTOR-$(orr_test_factor)}"; \
	ORR_TEST_MPI='$(orr_mpi)'; ORR_TEST_MPI_LIBRARY='$(ORR_MPI_LIBRARY)'; ORR_TEST_SIM='$(orr_simgrid)'; ORR_TEST_SIM_INTERFACE='$(orr_simgrid_interface)'; ORR_TEST_UCX='$(orr_ucx)'; ORR_TEST_OPENCL='$(orr_opencl)'; ORR_TEST_CUDA='$(orr_cuda)'; ORR_TEST_SANITIZER='$(orr_sanitizer)'; ORR_TEST_DEBUG='$(orr_debug)'; ORR_TEST_HARDENED='$(ORR_FORTIFY) $(ORR_STACK_PROTECTOR) $(ORR_RELRO)'; ORR_TEST_FORTRAN='$(orr_fortran)'; \
	PYTHON='$(PYTHON)'; CC='$(CC)'; SPHINX_BUILD='$(SPHINX_BUILD)'; \
	export ORR_TEST_SRCDIR ORR_TEST_BUILDDIR ORR_TEST_FACTOR ORR_TEST_MPI ORR_TEST_MPI_LIBRARY ORR_TEST_SIM ORR_TEST_SIM_INTERFACE ORR_TEST_UCX ORR_TEST_OPENCL ORR_TEST_CUDA ORR_TEST_SANITIZER ORR_TEST_DEBUG ORR_TEST_HARDENED ORR_TEST_FORTRAN PYTHON CC SPHINX_BUILD;
MOSTLYCLEANFILES += $(orr_sim_test_programs) $(orr_sim_test_programs:=.o) $(orr_sim_test_programs:=.d)
EXTRA_DIST += $(orr_test_extra)

clean-local:
	rm -rf places tests/tmp fuzz/clang fuzz/found fidelity

# The tests of the core, of data and of messages again, with devices of CUDA's stub, and with one of
# OpenCL that computes on CPUs, beside their workers.
orr_device_tests = $(filter tests/core/% tests/data/% tests/mpi/%,$(orr_core_tests) $(orr_mpi_tests))
check-devices:
	@status=0; for devices in cuda opencl; do \
		ORR_TEST_DEVICES=$$devices $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(orr_device_tests)' || status=1; \
		echo "with devices of $$devices:"; $(SHELL) $(srcdir)/tests/lib/summary . || status=1; \
		mv test-suite.log test-suite-$$devices.log; \
	done; exit $$status
MOSTLYCLEANFILES += test-suite-cuda.log test-suite-opencl.log
.PHONY: check-devices

# The simulated tests again, with each model of the network that is not the default.
check-networks:
	for network in maxmin queue smpi tcp; do \
		ORR_TEST_NETWORK=$$network $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(orr_sim_tests)' || exit 1; \
	done
.PHONY: check-networks

# Tests that take minutes: 200 changes of a real run in a row leave nothing behind; payloads of all sizes;
# threads that wait for memory are not forgotten in 10000 rounds; the long runs of the manual; a minute of each
# fuzz target, 10 million messages of strangers and 1 million of peers, 100000 changed files of each kind.
check-long:
	ORR_GROWTHS=100 ORR_TEST_FACTOR=4 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/elastic/leak.sh'
	ORR_SIZES=all ORR_TEST_FACTOR=8 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/mpi/sizes.sh'
	ORR_MANUAL=all ORR_TEST_FACTOR=4 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/tools/manual.sh'
	ORR_CAUSES=all ORR_TEST_FACTOR=4 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/tools/explain_causes.sh tests/tools/explain_real.sh tests/hosts/explain.sh'
	ORR_ROUNDS=10000 ORR_TEST_FACTOR=60 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/data/mem_wait $(filter tests/data/mem_wait.sim,$(orr_sim_tests))'
	FUZZ_SECONDS=60 ORR_TEST_FACTOR=4 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(orr_fuzz_targets)'
	ORR_HOSTILE=100000 ORR_TEST_FACTOR=60 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/tools/hostile.sh'
	ORR_MESSAGES=10000000 ORR_TEST_FACTOR=60 $(MAKE) $(AM_MAKEFLAGS) check TESTS='tests/elastic/strangers.sh'
.PHONY: check-long

.PHONY: check-summary
check-summary:
	@$(SHELL) $(srcdir)/tests/lib/summary .
