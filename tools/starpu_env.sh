#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by a shell (. starpu_env), lets builds and programs find this Orrery; run
# as a program, prints the commands that do so. `orrery env' has them.
# Invariant: nothing of the shell changes but the variables that `orrery env' names.
starpu_env_self=${BASH_SOURCE:-$0}
case ${starpu_env_self##*/} in
starpu_env) starpu_env_bin=$(dirname "$(readlink -f "$(command -v "$starpu_env_self")")") ;;
*) starpu_env_bin=@bindir@ ;; # a shell that does not say which file it reads
esac
case ${0##*/} in
starpu_env) exec "$starpu_env_bin/orrery" env "$@" ;;
*) eval "$("$starpu_env_bin/orrery" env)" ;;
esac
unset starpu_env_self starpu_env_bin
