#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The floors of the house (build-aux/floors.table): no folder includes a header
# of a floor above it. First the checker itself, on a small house with a breach
# of each kind.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

mkdir -p build-aux src/low src/high
cp "$ORR_TEST_SRCDIR/build-aux/floors" build-aux
floors="$PYTHON build-aux/floors"

# table LINE...: the table of the small house, with these lines added.
table() {
	{ echo 'src/low:' && echo 'src/high: src/low' && for l; do echo "$l"; done; } > build-aux/floors.table
}

# What is sound passes.
echo 'int orr_low(int);' > src/low/low.h
printf '#include "low/low.h"\nint orr_low(int x)\n{\n\treturn x;\n}\n' > src/low/low.c
printf '#include "high/high.h"\n#include "low/low.h"\nint orr_high(int x)\n{\n\treturn orr_low(x);\n}\n' > src/high/high.c
echo 'int orr_high(int);' > src/high/high.h
table 'limit include 1' 'limit use 1'
ok $floors

# A call upwards makes a circle by use; comments and strings make none.
printf '#include "low/low.h"\n/* orr_high() */\nconst char *orr_low_name = "orr_high";\nint orr_low(int x)\n{\n\treturn x;\n}\n' > src/low/low.c
ok $floors
printf 'int orr_high(int);\nint orr_low(int x)\n{\n\treturn orr_high(x);\n}\n' > src/low/low.c
fails 1 'largest circle by use has 2 modules.*src/high/high src/low/low' $floors
table 'limit use 2'
ok $floors

# An include upwards.
printf '#include "high/high.h"\n' > src/low/low.c
fails 1 'src/low/low.c includes src/high/high.h' $floors
table 'debt src/low src/high'
ok $floors
table 'debt src/low src/high' 'limit include 1'
fails 1 'largest circle by include has 2 modules' $floors

# Folders of the simulated world have floors as well; an include names the folder without sim/sys.
mkdir -p sim/sys/low sim/sys/high
printf '#include "high/upper.h"\n' > sim/sys/low/lower.h
echo > sim/sys/high/upper.h
table 'debt src/low src/high' 'sim/sys/low:' 'sim/sys/high: sim/sys/low'
fails 1 'sim/sys/low/lower.h includes sim/sys/high/upper.h' $floors
printf '#include "low/lower.h"\n' > sim/sys/high/upper.h
echo > sim/sys/low/lower.h
ok $floors

# A table that is none.
table 'src/roof src/high'
fails 1 'floors.table:3: expected' $floors
table 'src/middle: src/roof src/low'
fails 1 'src/middle stands below src/roof' $floors

# The house.
ok "$PYTHON" "$ORR_TEST_SRCDIR/build-aux/floors"
cat out
exit 0
