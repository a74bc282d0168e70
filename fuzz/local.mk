# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the fuzz targets. They are linked with libcore.la,
# so that the linker can send the library's messages to messages.c.
#     make check     replays the corpus and random changes of it, with any compiler
#     make fuzz      libFuzzer (clang): FUZZ_SECONDS for each of FUZZ_TARGETS
orr_fuzz_targets =
orr_fuzz_shared = fuzz/replay.c fuzz/messages.c fuzz/fuzz.h
orr_fuzz_wrap = -Wl,--wrap=orr_error -Wl,--wrap=orr_warn -Wl,--wrap=orr_info
orr_checkpoint_files = src/mpi/checkpoint/checkpoint_file.c src/mpi/checkpoint/checkpoint_folder.c
orr_fuzz_ldflags = $(orr_fuzz_wrap)
orr_fuzz_ldadd = libcore.la $(HWLOC_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
include %D%/sources.mk
fuzz_door_fuzz_SOURCES += $(orr_registry)
fuzz_registry_fuzz_SOURCES += $(orr_registry)
if ORR_MPI
fuzz_checkpoint_fuzz_SOURCES += $(orr_checkpoint_files)
fuzz_envelope_fuzz_SOURCES += src/mpi/carry/message_parse.c
endif
EXTRA_PROGRAMS += $(orr_fuzz_targets)
orr_check_all += $(orr_fuzz_targets)
CLEANFILES += $(orr_fuzz_targets)
TESTS += $(orr_fuzz_targets)
EXTRA_DIST += $(orr_fuzz_extra)

# The same again, compiled by clang with libFuzzer and the sanitizers.
ORR_CLANG = clang
FUZZ_SECONDS = 60
FUZZ_TARGETS = $(orr_fuzz_targets:fuzz/%_fuzz=%)
orr_fuzz_switches = -g -O1 -DORR_DEBUG=1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
orr_fuzz_objects = $(patsubst %.c,fuzz/clang/%.o,$(filter %.c,$(liborrery_la_SOURCES)) fuzz/messages.c)
orr_fuzz_cc_v = $(orr_fuzz_cc_v_$(V))
orr_fuzz_cc_v_ = $(orr_fuzz_cc_v_$(AM_DEFAULT_VERBOSITY))
orr_fuzz_cc_v_0 = @echo "  CLANG   " $@;

fuzz/clang/%.o: %.c include/starpu_config.h
	$(orr_fuzz_cc_v)$(MKDIR_P) $(@D) && $(ORR_CLANG) -std=gnu11 -D_GNU_SOURCE= -w $(orr_fuzz_switches) -fsanitize=fuzzer-no-link \
		-pthread $(DEFS) -I. $(orr_unit_cppflags) $(MPI_CPPFLAGS) -MMD -MP -c -o $@ $<

fuzz/clang/%_fuzz: fuzz/clang/fuzz/%_fuzz.o $(orr_fuzz_objects)
	$(orr_fuzz_cc_v)$(ORR_CLANG) $(orr_fuzz_switches) -fsanitize=fuzzer $(orr_fuzz_wrap) -pthread -o $@ $^ $(HWLOC_LIBS) $(OPENCL_LIBS) -lm -ldl

fuzz/clang/checkpoint_fuzz: $(patsubst %.c,fuzz/clang/%.o,$(orr_checkpoint_files))
fuzz/clang/envelope_fuzz: fuzz/clang/src/mpi/carry/message_parse.o
fuzz/clang/door_fuzz fuzz/clang/registry_fuzz: $(patsubst %.c,fuzz/clang/%.o,$(filter %.c,$(orr_registry)))

-include $(wildcard fuzz/clang/*/*.d fuzz/clang/*/*/*.d fuzz/clang/*/*/*/*.d fuzz/clang/*/*/*/*/*.d)

fuzz:
	@if $(SHELL) $(srcdir)/fuzz/run-fuzz check $(ORR_CLANG); then \
		$(MAKE) $(AM_MAKEFLAGS) $(FUZZ_TARGETS:%=fuzz/clang/%_fuzz) && \
		$(SHELL) $(srcdir)/fuzz/run-fuzz run $(srcdir) $(FUZZ_SECONDS) $(FUZZ_TARGETS); fi

MOSTLYCLEANFILES += $(orr_fuzz_targets:%=%.crash)
.PHONY: fuzz
.SECONDARY: $(orr_fuzz_objects) $(orr_fuzz_targets:%=fuzz/clang/%.o)
