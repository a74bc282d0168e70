/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices of kind CUDA for tests that choose how many there are: fake ones, or those of the stub of
 * the CUDA runtime where `make check-devices` asks for them (tests/lib/run-test).
 *
 * Invariant: the next starpu_init() finds that many, unless its configuration asks for fewer. */
#ifndef TESTS_LIB_DEVICES_H
#define TESTS_LIB_DEVICES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Do programs have devices that their tests do not ask for? */
static inline int test_has_devices(void)
{
	return getenv("ORR_TEST_DEVICES") != NULL;
}

static inline void test_devices(unsigned n)
{
	const char *kind = getenv("ORR_TEST_DEVICES");
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	setenv(kind && !strcmp(kind, "cuda") ? "ORR_CUDART_DEVICES" : "ORRERY_FAKE_DEVICES", text,
	       1);
}

#endif
