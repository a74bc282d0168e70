# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by run-test: options of the sanitizers. The suppressions name foreign
# libraries only; nothing of ours may ever be listed.
lib=$src/tests/lib
# MPI unloads its parts before the leaks are looked for; whole call stacks still
# lead through the libraries that are named. Tests ask for more memory than there is. A communicator
# that the simulator makes for SimGrid has more room than SimGrid, which deletes it, knows of.
ASAN_OPTIONS=${ASAN_OPTIONS-new_delete_type_mismatch=0:detect_stack_use_after_return=0:detect_leaks=1:fast_unwind_on_malloc=0:allocator_may_return_null=1}
LSAN_OPTIONS=${LSAN_OPTIONS-suppressions=$lib/lsan.supp:print_suppressions=0}
TSAN_OPTIONS=${TSAN_OPTIONS-suppressions=$lib/tsan.supp:halt_on_error=0:exitcode=66:history_size=4:allocator_may_return_null=1}
UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1:halt_on_error=1}
# UCX replaces functions that manage memory in the running program, which sanitizers do not survive.
if [ "${ORR_TEST_SANITIZER-no}" != no ]; then UCX_MEM_EVENTS=n; export UCX_MEM_EVENTS; fi
export ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS
