/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reader and writer of performance model files (see model_file.h).
 *
 * Invariant: a file is accepted as a whole or refused with one message that names the file, the
 * line, and what was expected there; no count found in a file is trusted beyond the bounds of
 * model_data.h. */
#include "perf/model_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/numbers.h"
#include "perf/arch.h"
#include "perf/text.h"

/* ---- files ---- */

int orr_model_file_read(const char *path, struct orr_model_data **out)
{
	char *text;
	size_t length;
	int err = orr_text_read(path, ORR_MODEL_MAX_BYTES, &text, &length);
	if (err)
		return err;
	err = orr_model_file_parse(text, length, path, out);
	free(text);
	return err;
}

/* ---- parsing ---- */

struct parser {
	const char *name;
	char *next; /* first character of the next line */
	char *end;
	char *at; /* what remains of the current line */
	unsigned line;
};

static int parse_fail(const struct parser *p, const char *expected)
{
	orr_error(
		"%s:%u: malformed performance model: expected %s; remove the file or measure again with STARPU_CALIBRATE=2",
		p->name, p->line, expected);
	return -EINVAL;
}

/* Goes to the next line that is neither empty nor a comment. Returns 0 at the end of the file. */
static int next_line(struct parser *p)
{
	while (p->next < p->end) {
		char *s = p->next;
		char *nl = memchr(s, '\n', (size_t) (p->end - s));
		char *stop = nl ? nl : p->end;
		*stop = 0;
		p->next = nl ? nl + 1 : p->end;
		p->line++;
		while (isspace((unsigned char) *s))
			s++;
		if (*s && *s != '#') {
			p->at = s;
			return 1;
		}
	}
	return 0;
}

static int want_line(struct parser *p, const char *what)
{
	if (next_line(p))
		return 0;
	orr_error(
		"%s:%u: truncated performance model: the file ends, expected %s; remove it or measure again with STARPU_CALIBRATE=2",
		p->name, p->line, what);
	return -EINVAL;
}

/* The character after a field must be white space or the end. */
static int field_ends(struct parser *p, char *stop)
{
	if (stop == p->at || (*stop && !isspace((unsigned char) *stop)))
		return 0;
	p->at = stop;
	return 1;
}

static int field_int(struct parser *p, long min, long max, const char *what, long *out)
{
	char *stop;
	errno = 0;
	long v = strtol(p->at, &stop, 10);
	if (errno || !field_ends(p, stop) || v < min || v > max)
		return parse_fail(p, what);
	*out = v;
	return 0;
}

static int field_ulong(struct parser *p, int base, unsigned long max, const char *what,
		       unsigned long *out)
{
	char *stop;
	while (isspace((unsigned char) *p->at))
		p->at++;
	if (!isxdigit((unsigned char) *p->at))
		return parse_fail(p, what);
	errno = 0;
	unsigned long v = strtoul(p->at, &stop, base);
	if (errno || !field_ends(p, stop) || v > max)
		return parse_fail(p, what);
	*out = v;
	return 0;
}

static int field_double(struct parser *p, const char *what, double *out)
{
	char *stop;
	double v = orr_strtod(p->at, &stop);
	if (!field_ends(p, stop) || fabs(v) > ORR_MODEL_MAX_NUMBER)
		return parse_fail(p, what);
	*out = v;
	return 0;
}

static int end_line(struct parser *p, const char *what)
{
	while (isspace((unsigned char) *p->at))
		p->at++;
	return *p->at ? parse_fail(p, what) : 0;
}

static int line_int(struct parser *p, long min, long max, const char *what, long *out)
{
	int err = want_line(p, what);
	if (!err)
		err = field_int(p, min, max, what, out);
	return err ? err : end_line(p, what);
}

/* Types of devices: their numbers in the file, and ours. */
static const struct {
	int file, ours;
} kinds[] = {
	{ 0, STARPU_CPU_WORKER },    { 1, STARPU_CUDA_WORKER }, { 2, STARPU_OPENCL_WORKER },
	{ 5, STARPU_MPI_MS_WORKER }, { 7, STARPU_HIP_WORKER },
};

static int kind_from_file(long k)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].file == k)
			return kinds[i].ours;
	}
	return (int) k + ORR_MODEL_FOREIGN_TYPE;
}

static int kind_to_file(int k)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].ours == k)
			return kinds[i].file;
	}
	return k - ORR_MODEL_FOREIGN_TYPE;
}

static int parse_regression(struct parser *p, struct starpu_perfmodel_regression_model *r)
{
	static const char what[] =
		"9 numbers: sumlnx sumlnx2 sumlny sumlnxlny alpha beta n minx maxx";
	int err = want_line(p, what);
	double *const first[] = { &r->sumlnx,    &r->sumlnx2, &r->sumlny,
				  &r->sumlnxlny, &r->alpha,   &r->beta };
	for (unsigned i = 0; !err && i < 6; i++)
		err = field_double(p, what, first[i]);
	unsigned long n = 0;
	if (err || (err = field_ulong(p, 10, UINT32_MAX, what, &n)) ||
	    (err = field_ulong(p, 10, UINT64_MAX, what, &r->minx)) ||
	    (err = field_ulong(p, 10, UINT64_MAX, what, &r->maxx)) || (err = end_line(p, what)))
		return err;
	r->nsample = (unsigned) n;
	r->valid = !isnan(r->alpha) && !isnan(r->beta) && r->alpha > 0;
	return 0;
}

/* The current line, with the non-linear regression. */
static int parse_nl(struct parser *p, struct starpu_perfmodel_regression_model *r)
{
	static const char what[] = "3 numbers: a b c";
	int err;
	if ((err = field_double(p, what, &r->a)) || (err = field_double(p, what, &r->b)) ||
	    (err = field_double(p, what, &r->c)) || (err = end_line(p, what)))
		return err;
	r->nl_valid = !isnan(r->a) && !isnan(r->b) && !isnan(r->c);
	return 0;
}

/* The current line, with the multiple regression. */
static int parse_multi(struct parser *p, struct starpu_perfmodel_regression_model *r)
{
	static const char what[] =
		"0, or the number (at most 256) of coefficients of a multiple regression and these";
	long n;
	int err = field_int(p, 0, ORR_MODEL_MAX_COEFFS, what, &n);
	if (err)
		return err;
	if (n) {
		r->coeff = calloc((size_t) n, sizeof(double));
		if (!r->coeff)
			return -ENOMEM;
		r->ncoeff = (unsigned) n;
		r->multi_valid = 1;
	}
	for (long i = 0; i < n; i++) {
		err = field_double(p, what, &r->coeff[i]);
		if (err)
			return err;
		if (isnan(r->coeff[i]))
			r->multi_valid = 0;
	}
	return end_line(p, what);
}

/* The two lines after the power law. Some old files have them in the reverse order, which a lone 0
 * shows: it cannot be a, b and c. */
static int parse_fits(struct parser *p, struct starpu_perfmodel_regression_model *r)
{
	int err = want_line(p, "3 numbers: a b c");
	if (err)
		return err;
	const char *rest = p->at + strspn(p->at, "0");
	int swapped = rest != p->at && !rest[strspn(rest, " \t\r\v\f")];
	err = swapped ? parse_multi(p, r) : parse_nl(p, r);
	if (!err)
		err = want_line(
			p,
			swapped ? "3 numbers: a b c"
				: "0, or a number of coefficients of a multiple regression and these");
	if (err)
		return err;
	return swapped ? parse_nl(p, r) : parse_multi(p, r);
}

/* The sum of n times, and of their squares. With them, what is learnt later stays readable. */
static int sums_are_possible(double sum, double sum2, double n)
{
	const double least = 0.99 * ORR_MODEL_LEAST_MEAN, most = 1.01 * ORR_MODEL_MOST_MEAN;

	return sum >= n * least && sum <= n * most && sum2 <= 2 * n * most * most;
}

static int parse_entry(struct parser *p, struct orr_model_impl *impl)
{
	static const char what[] = "8 fields: hash size flops mean deviation sum sum2 n";
	unsigned long hash, size, n;
	double flops, v[4];
	int err = want_line(p, what);
	if (err || (err = field_ulong(p, 16, UINT32_MAX, what, &hash)) ||
	    (err = field_ulong(p, 10, UINT64_MAX, what, &size)) ||
	    (err = field_double(p, what, &flops)))
		return err;
	for (unsigned i = 0; i < 4; i++) {
		err = field_double(p, what, &v[i]);
		if (err)
			return err;
	}
	if ((err = field_ulong(p, 10, UINT32_MAX, what, &n)) || (err = end_line(p, what)))
		return err;
	if (n && !(v[0] >= 0 && v[2] >= 0 && v[3] >= 0))
		return parse_fail(p, "mean, sum and sum2 that are not negative, for n > 0");
	if (n && !(v[1] >= 0))
		return parse_fail(p, "a number that is not negative as deviation, for n > 0");
	if (n && v[0] > 0 && (v[0] < ORR_MODEL_LEAST_MEAN || v[0] > ORR_MODEL_MOST_MEAN))
		return parse_fail(p, "a mean of 1e-9 to 1e15 (or 0), for n > 0");
	if (n && v[1] > 2 * ORR_MODEL_MOST_MEAN)
		return parse_fail(p, "a deviation of 2e15 at most, for n > 0");
	if (v[0] == 0)
		n = 0; /* no execution takes no time */
	if (n && !sums_are_possible(v[2], v[3], (double) n))
		return parse_fail(p, "sums that n means of 1e-9 to 1e15 can have");
	for (unsigned i = 0; i < 4; i++)
		v[i] = n ? v[i] : 0;
	struct orr_model_entry *e = orr_model_entry_append(impl, (uint32_t) hash);
	if (!e)
		return -ENOMEM;
	e->pub.size = size;
	e->pub.flops = isnan(flops) || flops < 0 ? 0 : flops;
	e->pub.mean = v[0];
	e->pub.deviation = v[1];
	e->pub.sum = v[2];
	e->pub.sum2 = v[3];
	e->pub.nsample = (unsigned) n;
	return 0;
}

static int compare_hashes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	return (x > y) - (x < y);
}

/* No hash may stand twice in a history. */
static int check_hashes(struct parser *p, const struct orr_model_impl *impl)
{
	uint32_t *v = malloc((impl->nentries + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (unsigned i = 0; i < impl->nentries; i++)
		v[i] = impl->entries[i]->pub.footprint;
	qsort(v, impl->nentries, sizeof(*v), compare_hashes);
	int twice = 0;
	for (unsigned i = 1; i < impl->nentries; i++)
		twice |= v[i] == v[i - 1];
	free(v);
	return twice ? parse_fail(p, "every hash only once in the list that ends here") : 0;
}

static int parse_impl(struct parser *p, struct orr_model_comb *c, unsigned nimpl)
{
	long n;
	int err = line_int(p, 0, ORR_MODEL_MAX_ENTRIES, "the number of entries (0 to 1000000)", &n);
	if (err)
		return err;
	struct orr_model_impl *impl = orr_model_impl_make(c, nimpl);
	if (!impl)
		return -ENOMEM;
	err = parse_regression(p, &impl->reg);
	if (!err)
		err = parse_fits(p, &impl->reg);
	for (long i = 0; !err && i < n; i++)
		err = parse_entry(p, impl);
	if (!err)
		err = check_hashes(p, impl);
	impl->base = impl->reg;
	impl->base.coeff = NULL;
	return err;
}

/* A combination of devices; the current line holds its number of devices. */
static int parse_comb(struct parser *p, struct orr_model_data *d)
{
	static const char what[] = "the number of devices of the combination (1 to 64)";
	struct starpu_perfmodel_device devices[ORR_MODEL_MAX_DEVICES];
	long ndevices, nimpls, kind, devid, ncores;
	int err = field_int(p, 1, ORR_MODEL_MAX_DEVICES, what, &ndevices);
	if (err || (err = end_line(p, what)))
		return err;
	for (long i = 0; i < ndevices; i++) {
		err = line_int(p, 0, 255, "a type of device (0 CPU, 1 CUDA, 2 OpenCL, ...)", &kind);
		if (err ||
		    (err = line_int(p, 0, ORR_MODEL_MAX_DEVID,
				    "the number of the device (0 to 4095)", &devid)) ||
		    (err = line_int(p, 1, ORR_MODEL_MAX_CORES, "a number of cores (1 to 4095)",
				    &ncores)))
			return err;
		devices[i].type = (enum starpu_worker_archtype) kind_from_file(kind);
		devices[i].devid = (int) devid;
		devices[i].ncores = (int) ncores;
	}
	if (orr_model_comb_find(d, (int) ndevices, devices))
		return parse_fail(p,
				  "a combination of devices that the file did not describe before");
	struct orr_model_comb *c = orr_model_comb_make(d, (int) ndevices, devices);
	if (!c)
		return -ENOMEM;
	err = line_int(p, 0, ORR_MODEL_MAX_IMPLS, "the number of implementations (0 to 64)",
		       &nimpls);
	for (long i = 0; !err && i < nimpls; i++)
		err = parse_impl(p, c, (unsigned) i);
	return err;
}

/* A file that was put together by hand may hold more combinations than it says, never fewer. */
static int parse_all(struct parser *p, struct orr_model_data *d)
{
	long version, ncombs, i = 0;
	int err = line_int(p, 0, 1000000, "the version of the format, 45", &version);
	if (err)
		return err;
	if (version != ORR_MODEL_VERSION)
		return parse_fail(p, "version 45 of the format");
	err = line_int(p, 0, ORR_MODEL_MAX_COMBS, "the number of combinations (0 to 4096)",
		       &ncombs);
	for (; !err && i < ncombs; i++) {
		err = want_line(p, "the number of devices of a further combination");
		if (!err)
			err = parse_comb(p, d);
	}
	for (; !err && next_line(p); i++)
		err = i < ORR_MODEL_MAX_COMBS
			      ? parse_comb(p, d)
			      : parse_fail(p, "the end of the file after 4096 combinations");
	if (!err && i > ncombs)
		orr_info("%s: says that it holds %ld combinations, but holds %ld; all are used",
			 p->name, ncombs, i);
	return err;
}

int orr_model_file_parse(const char *text, size_t length, const char *name,
			 struct orr_model_data **out)
{
	char *copy = malloc(length + 1);
	struct orr_model_data *d = orr_model_data_new();
	int err = -ENOMEM;
	if (copy && d) {
		memcpy(copy, text, length);
		copy[length] = 0;
		struct parser p = { .name = name, .next = copy, .end = copy + length };
		const char *zero = memchr(copy, 0, length);
		if (zero) {
			for (const char *c = copy; c < zero; c++)
				p.line += *c == '\n';
			p.line++;
			err = parse_fail(&p, "text, but there is a byte of value 0");
		} else {
			err = parse_all(&p, d);
		}
	}
	free(copy);
	if (err) {
		if (err == -ENOMEM)
			orr_error("%s: not enough memory to read it", name);
		orr_model_data_free(d);
		return err;
	}
	*out = d;
	return 0;
}

/* ---- writing ---- */

static void write_impl(FILE *f, const struct orr_model_comb *c, unsigned comb, unsigned nimpl)
{
	const struct orr_model_impl *impl = &c->impls[nimpl];
	const struct starpu_perfmodel_regression_model *r = &impl->reg;
	char name[256];
	orr_arch_name(c->ndevices, c->devices, (int) nimpl, name, sizeof(name));
	fprintf(f, "#####\n# Model for %s (Comb%u)\n# number of entries\n%u\n", name, comb,
		impl->nentries);
	fprintf(f, "# sumlnx\tsumlnx2\t\tsumlny\t\tsumlnxlny\talpha\t\tbeta\t\tn\tminx\t\tmaxx\n");
	fprintf(f, "%-15.9e\t%-15.9e\t%-15.9e\t%-15.9e\t%-15.9e\t%-15.9e\t%u\t%-15lu\t%-15lu\n",
		r->sumlnx, r->sumlnx2, r->sumlny, r->sumlnxlny, r->alpha, r->beta, r->nsample,
		r->minx, r->maxx);
	fprintf(f, "# a\t\tb\t\tc\n%-15.9e\t%-15.9e\t%-15.9e\n", r->a, r->b, r->c);
	if (r->ncoeff) {
		fprintf(f, "# n\tintercept\tcoefficients\n%u", r->ncoeff);
		for (unsigned i = 0; i < r->ncoeff; i++)
			fprintf(f, "\t%-15.9e", r->coeff[i]);
		fprintf(f, "\n");
	} else {
		fprintf(f, "# not multiple-regression-base\n0\n");
	}
	if (impl->nentries)
		fprintf(f,
			"# hash\t\tsize\t\tflops\t\tmean (us or J)\tdev (us or J)\tsum\t\tsum2\t\tn\n");
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		fprintf(f, "%08x\t%-15zu\t%-15.9e\t%-15.9e\t%-15.9e\t%-15.9e\t%-15.9e\t%u\n",
			e->footprint, e->size, e->flops, e->mean, e->deviation, e->sum, e->sum2,
			e->nsample);
	}
	fprintf(f, "\n");
}

int orr_model_file_write(FILE *f, const struct orr_model_data *d)
{
	ORR_PLAIN_NUMBERS;
	fprintf(f, "##################\n# Performance Model Version\n%d\n\n", ORR_MODEL_VERSION);
	fprintf(f, "####################\n# COMBs\n# number of combinations\n%u\n", d->ncombs);
	for (unsigned i = 0; i < d->ncombs; i++) {
		const struct orr_model_comb *c = d->combs[i];
		fprintf(f, "####################\n# COMB_%u\n# number of types devices\n%d\n", i,
			c->ndevices);
		for (int v = 0; v < c->ndevices; v++) {
			fprintf(f,
				"####################\n# DEV_%d\n# device type (CPU - 0, CUDA - 1, OPENCL - 2, MPI_MS - 5, HIP - 7)\n%d\n",
				v, kind_to_file((int) c->devices[v].type));
			fprintf(f, "####################\n# DEV_%d\n# device id \n%d\n", v,
				c->devices[v].devid);
			fprintf(f, "####################\n# DEV_%d\n# number of cores \n%d\n", v,
				c->devices[v].ncores);
		}
		fprintf(f, "##########\n# number of implementations\n%u\n", c->nimpls);
		for (unsigned n = 0; n < c->nimpls; n++)
			write_impl(f, c, i, n);
	}
	return ferror(f) ? -EIO : 0;
}
