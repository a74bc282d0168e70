# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by test scripts after script.sh: the locale of a user who writes a decimal
# comma, made in the current directory. Skips the test where that is impossible.
command -v localedef > /dev/null || skip "no localedef"
localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" > /dev/null 2>&1 || [ -e "$PWD/de_DE.UTF-8/LC_NUMERIC" ] || skip "no source of a locale with a decimal comma (Debian: locales)"
[ "$(env LOCPATH="$PWD" LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ] || skip "the C library does not take locales from LOCPATH"

# german COMMAND...: runs it for that user.
german() { env LOCPATH="$here" LC_ALL=de_DE.UTF-8 "$@"; }
here=$PWD

# pointed FILE...: no number in there has a decimal comma.
pointed() {
	if grep -E -H '[0-9],[0-9]+e[-+]|[0-9],[0-9]{3,}[^0-9,]' "$@"; then die "decimal commas"; fi
}
