/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SipHash-2-4 gives the codes that its authors published: of the bytes 0, 1, ... under the key
 * 0, 1, ..., 15 (vectors of 0, 1, 8, 15 and 63 bytes). */
#include "base/siphash.h"
#include "lib/test.h"

int main(void)
{
	static const struct {
		size_t n;
		uint64_t code;
	} known[] = { { 0, 0x726fdb47dd0e0e31 },
		      { 1, 0x74f839c593dc67fd },
		      { 8, 0x93f5f5799a932462 },
		      { 15, 0xa129ca6149be45e5 },
		      { 63, 0x958a324ceb064572 } };
	unsigned char key[16], bytes[64];

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (unsigned char) i;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char) i;
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CHECK(orr_siphash(key, bytes, known[i].n) == known[i].code);
	return 0;
}
