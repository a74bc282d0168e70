# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The number of data inside the public structures: configure takes and checks it, the pkg-config
# files carry it, and a program that was compiled for another one is not linked.
# orr-test: timeout 900
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
number=$(sed -n 's/^#define STARPU_NMAXBUFS //p' "$ORR_TEST_BUILDDIR/include/starpu_config.h")
[ "${number:-0}" -ge 8 ] || die "starpu_config.h has no number: '$number'"
for pc in orrery orrery-sim; do
	has "$ORR_TEST_BUILDDIR/pkgconfig/$pc.pc" "^maxbuffers=$number\$"
done

for wrong in 7 257 1000 many 08 ''; do
	if sh "$ORR_TEST_SRCDIR/configure" --enable-maxbuffers="$wrong" > out 2>&1; then die "configure takes '$wrong'"; fi
	has out "maxbuffers=$wrong: give a number from 8 to 256"
done

cat > main.c <<'END'
#include <starpu.h>
int main(void)
{
	return starpu_init(NULL) ? 77 : (starpu_shutdown(), 0);
}
END
world=--real
[ "$ORR_TEST_SIM" != yes ] || world=--sim
ok "$ORRERY" cc $world main.c -o same
mkdir include
sed 's/^#define STARPU_NMAXBUFS .*/#define STARPU_NMAXBUFS 31/' "$ORR_TEST_BUILDDIR/include/starpu_config.h" > include/starpu_config.h
if "$ORRERY" cc --real -include include/starpu_config.h main.c -o other > out 2>&1; then die "a program for 31 data is linked"; fi
has out 'orrery_configured_with_maxbuffers_31'
if [ "$ORR_TEST_SIM" = yes ]; then
	if "$ORRERY" cc --sim -include include/starpu_config.h main.c -o other > out 2>&1 && "$ORRERY" sim --quiet ./other > out 2>&1; then
		die "a program for 31 data runs"
	fi
	has out 'orrery_configured_with_maxbuffers_31'
fi
echo "data of a task: $number"
