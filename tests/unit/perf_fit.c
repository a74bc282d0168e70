/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fits recover the laws that synthetic data follow, and refuse data that do not tell. */
#include <errno.h>
#include "perf/fit.h"
#include "starpu_hash.h"
#include "perf_util.h"

static double noise(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return ((*seed >> 8) & 0xffff) / 65536.0 - 0.5;
}

static void power(void)
{
	double sx = 0, sx2 = 0, sy = 0, sxy = 0, alpha = -1, beta = -1;
	unsigned n = 0, seed = 7;
	for (double x = 1000; x < 1e7; x *= 1.5, n++) {
		double lx = log(x), ly = log(0.003 * pow(x, 1.5) * (1 + 0.02 * noise(&seed)));
		sx += lx, sx2 += lx * lx, sy += ly, sxy += lx * ly;
	}
	CHECK(orr_fit_power(n, sx, sx2, sy, sxy, &alpha, &beta) == 0);
	CHECK_NEAR(beta, 1.5, 0.005);
	CHECK_NEAR(alpha, 0.003, 0.05);
	CHECK(orr_fit_power(1, sx, sx2, sy, sxy, &alpha, &beta) == -EDOM);
	double l = log(4096);
	CHECK(orr_fit_power(10, 10 * l, 10 * l * l, 10, 10 * l, &alpha, &beta) == -EDOM);
}

static void offset(void)
{
	double x[20], y[20], w[20], a, b, c;
	unsigned n = 0, seed = 3;
	for (double v = 100; n < 12; v *= 2, n++) {
		x[n] = v;
		y[n] = 0.01 * pow(v, 1.2) + 25;
		w[n] = 10;
	}
	CHECK(orr_fit_offset(n, x, y, w, &a, &b, &c) == 0);
	CHECK_NEAR(b, 1.2, 0.01);
	CHECK_NEAR(c, 25, 0.02);
	CHECK_NEAR(a * pow(1e5, b) + c, 0.01 * pow(1e5, 1.2) + 25, 0.01);
	for (unsigned i = 0; i < n; i++)
		y[i] *= 1 + 0.05 * noise(&seed);
	CHECK(orr_fit_offset(n, x, y, w, &a, &b, &c) == 0);
	CHECK_NEAR(a * pow(1e5, b) + c, 0.01 * pow(1e5, 1.2) + 25, 0.05);
	/* No constant: c stays small. */
	for (unsigned i = 0; i < n; i++)
		y[i] = 2e-6 * pow(x[i], 2);
	CHECK(orr_fit_offset(n, x, y, w, &a, &b, &c) == 0);
	CHECK_NEAR(a * pow(5e4, b) + c, 2e-6 * 2.5e9, 0.02);
	CHECK(orr_fit_offset(2, x, y, w, &a, &b, &c) == -EDOM);
	x[1] = x[2] = x[0];
	CHECK(orr_fit_offset(3, x, y, w, &a, &b, &c) == -EDOM);
}

static void linear(void)
{
	enum { ROWS = 60, COLS = 4 };
	double x[ROWS * COLS], y[ROWS], coeff[COLS] = { 0 };
	unsigned seed = 11;
	for (unsigned i = 0; i < ROWS; i++) {
		double m = 10 + 500 * (noise(&seed) + 0.5), n = 10 + 500 * (noise(&seed) + 0.5),
		       k = 10 + 500 * (noise(&seed) + 0.5);
		x[i * COLS] = 1;
		x[i * COLS + 1] = m * n;
		x[i * COLS + 2] = m * n * k;
		x[i * COLS + 3] = k * k;
		y[i] = 12 + 0.5 * m * n + 0.002 * m * n * k - 0.01 * k * k;
	}
	CHECK(orr_fit_linear(ROWS, COLS, x, y, coeff) == 0);
	CHECK_NEAR(coeff[0], 12, 1e-6);
	CHECK_NEAR(coeff[1], 0.5, 1e-8);
	CHECK_NEAR(coeff[2], 0.002, 1e-8);
	CHECK_NEAR(coeff[3], -0.01, 1e-6);
	double dep[] = { 1, 2, 2, 4, 3, 6 }, z[] = { 1, 2, 3 };
	CHECK(orr_fit_linear(3, 2, dep, z, coeff) == -EDOM);
	CHECK(orr_fit_linear(1, 2, dep, z, coeff) == -EDOM);
}

static void hashes(void)
{
	const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint32_t h = starpu_hash_crc32c_be(0x05060708, starpu_hash_crc32c_be(0x01020304, 0));
	CHECK(h == starpu_hash_crc32c_be_n(bytes, 8, 0));
	CHECK(starpu_hash_crc32c_be(0, 0) == 0 && starpu_hash_crc32c_be(1, 0) == 0x1EDC6F41);
	CHECK(starpu_hash_crc32c_be_ptr((void *) (uintptr_t) 0x0102030405060708, 0) == h);
	CHECK(starpu_hash_crc32c_string("abc", 5) == starpu_hash_crc32c_be_n("abc", 3, 5));
	/* The definition, bit by bit. */
	uint32_t crc = 0x12345678 ^ 0xA5000000;
	for (int i = 0; i < 8; i++)
		crc = crc & 0x80000000u ? crc << 1 ^ 0x1EDC6F41 : crc << 1;
	CHECK(starpu_hash_crc32c_be_n("\xA5", 1, 0x12345678) == crc);
}

int main(void)
{
	power();
	offset();
	linear();
	hashes();
	return 0;
}
