#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Draws a performance model, under the tool's known name: `orrery perfmodel --plot`.
# Invariant: `orrery` stands beside this program, in the build tree and installed.
self=$(readlink -f "$0")
here=$(dirname "$self")
for word in "$@"; do
	case $word in
	-h|--help)
		echo "usage: starpu_perfmodel_plot -s SYMBOL [-m MACHINE] [-a ARCH] [-c COMBINATION] [-e] [-f] [-o FILE]"
		echo "       starpu_perfmodel_plot -l | -d | -lc -s SYMBOL [-m MACHINE]"
		echo "Draws how long a kernel takes over the size of its data or its work; see orrery-perfmodel(1)."
		exit 0 ;;
	-l|--list|-d|--directory|-lc|--combinations) exec "$here/orrery" perfmodel "$@" ;;
	esac
done
exec "$here/orrery" perfmodel "$@" --plot
