#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prepares a checkout for ./configure, as `autoreconf -fi` does. Run it again
# after adding or removing a file: it lists the sources anew even where
# autoreconf finds its own files up to date. Arguments go to autoreconf.
set -eu
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize; do
	if ! command -v $tool > /dev/null; then
		echo "autogen.sh: $tool is missing; install the packages autoconf, automake and libtool" >&2
		exit 1
	fi
done
sh build-aux/sources.sh
ORR_SOURCES_LISTED=yes
export ORR_SOURCES_LISTED
exec autoreconf --install "$@"
