/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_perfmodel_display: lists the performance models of this machine, shows one, or exports it
 * as XML.
 *
 * Invariant: files are only read; a model that is missing or malformed is named in one message and
 * ends in status 1. */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <starpu.h>
#include "perf/arch.h"
#include "perf/model_state.h"

static const char usage[] =
	"usage: starpu_perfmodel_display [options]\n"
	"Performance models as the calibration wrote them. The machine is this one, or that of STARPU_HOSTNAME.\n"
	"  -l, --list          names of all models that are found\n"
	"  -s, --symbol NAME   show one model\n"
	"  -a, --arch ARCH     only one unit, such as cpu0_impl0, cuda1, or cpu:4 (four cores)\n"
	"  -f, --footprint H   only one footprint (hexadecimal)\n"
	"  -p, --parameter P   only that: a, b, c, alpha, beta of the regressions, mean, stddev of the history,\n"
	"                      path-file-debug: the file's path\n"
	"  -x, --xml           as XML\n"
	"  -d, --directory     where models of this machine are written\n"
	"  -h, --help          this text\n"
	"  -v, --version       version\n";

struct options {
	int list, xml, directory;
	const char *symbol, *arch, *parameter;
	uint32_t footprint;
	int has_footprint;
};

static void wrong(const char *what, const char *value, const char *remedy)
{
	fprintf(stderr, "starpu_perfmodel_display: %s%s%s\n", what, value, remedy);
	exit(2);
}

static uint32_t hexadecimal(const char *word)
{
	char *end;
	unsigned long long v = strtoull(word, &end, 16);
	if (!isxdigit((unsigned char) *word) || *end || v > UINT32_MAX)
		wrong("--footprint ", word, ": expected a number of at most 8 hexadecimal digits");
	return (uint32_t) v;
}

static void parse(struct options *o, int argc, char **argv)
{
	static const struct option names[] = { { "list", no_argument, NULL, 'l' },
					       { "symbol", required_argument, NULL, 's' },
					       { "arch", required_argument, NULL, 'a' },
					       { "footprint", required_argument, NULL, 'f' },
					       { "parameter", required_argument, NULL, 'p' },
					       { "xml", no_argument, NULL, 'x' },
					       { "directory", no_argument, NULL, 'd' },
					       { "help", no_argument, NULL, 'h' },
					       { "version", no_argument, NULL, 'v' },
					       { NULL, 0, NULL, 0 } };
	int c;
	memset(o, 0, sizeof(*o));
	while ((c = getopt_long(argc, argv, "ls:a:f:p:xdhv", names, NULL)) != -1) {
		switch (c) {
		case 'l': o->list = 1; break;
		case 's': o->symbol = optarg; break;
		case 'a': o->arch = optarg; break;
		case 'f':
			o->footprint = hexadecimal(optarg);
			o->has_footprint = 1;
			break;
		case 'p': o->parameter = optarg; break;
		case 'x': o->xml = 1; break;
		case 'd': o->directory = 1; break;
		case 'h': fputs(usage, stdout); exit(0);
		case 'v':
			printf("starpu_perfmodel_display (Orrery) %d.%d.%d\n", STARPU_MAJOR_VERSION,
			       STARPU_MINOR_VERSION, STARPU_RELEASE_VERSION);
			exit(0);
		default: fputs("starpu_perfmodel_display: see --help\n", stderr); exit(2);
		}
	}
	if (optind < argc)
		wrong("", argv[optind], ": it takes options only; see --help");
	if (!o->list && !o->symbol && !o->directory)
		wrong("", "", "nothing to do: give --list, --symbol NAME or --directory");
}

/* Does "cpu0_impl0" answer to what was asked for: "cpu0_impl0", "cpu0", "cpu", or "cpu:4" for
 * combinations of that many cores? */
static int arch_asked(const struct options *o, const char *name)
{
	char cores[64];
	if (!o->arch)
		return 1;
	size_t n = strlen(o->arch), word = strcspn(o->arch, ":");
	if (o->arch[word] == ':' && isdigit((unsigned char) o->arch[word + 1])) {
		unsigned long k = strtoul(o->arch + word + 1, NULL, 10);
		snprintf(cores, sizeof(cores), "_cores%lu_", k);
		return !strncasecmp(o->arch, name, word) &&
		       (k == 1 ? !strstr(name, "_cores") : strstr(name, cores) != NULL);
	}
	/* cuda1 is not cuda10, but cuda is all of them. */
	return !strncasecmp(o->arch, name, n) &&
	       !(n && isdigit((unsigned char) o->arch[n - 1]) && isdigit((unsigned char) name[n]));
}

/* Mean or deviation of the entries that were asked for. */
static void print_entries(const struct options *o, const struct orr_model_impl *impl, int deviation)
{
	for (unsigned e = 0; e < impl->nentries; e++) {
		const struct starpu_perfmodel_history_entry *h = &impl->entries[e]->pub;
		if (!o->has_footprint || h->footprint == o->footprint)
			printf("%e\n", deviation ? h->deviation : h->mean);
	}
}

static int print_parameter(const struct options *o, const struct orr_model_impl *impl)
{
	const struct starpu_perfmodel_regression_model *r = &impl->reg;
	const char *which = o->parameter;
	if (!strcmp(which, "mean") || !strcmp(which, "stddev")) {
		print_entries(o, impl, *which == 's');
		return 0;
	}
	const struct {
		const char *name;
		double value;
	} known[] = { { "a", r->a },
		      { "b", r->b },
		      { "c", r->c },
		      { "alpha", r->alpha },
		      { "beta", r->beta } };
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(which, known[i].name)) {
			printf("%e\n", known[i].value);
			return 0;
		}
	}
	return -1;
}

static void print_regressions(const struct starpu_perfmodel_regression_model *r)
{
	if (r->valid)
		printf("\tregression: %e * size ^ %e us\n", r->alpha, r->beta);
	if (r->nl_valid)
		printf("\tnon-linear regression: %e * size ^ %e + %e us\n", r->a, r->b, r->c);
	for (unsigned i = 0; r->multi_valid && i < r->ncoeff; i++)
		printf("%s%e%s", i ? " " : "\tmultiple regression, constant first: ", r->coeff[i],
		       i + 1 < r->ncoeff ? "" : " us\n");
}

static void print_impl(const struct options *o, const struct orr_model_impl *impl, const char *name)
{
	printf("# performance model for %s\n", name);
	print_regressions(&impl->reg);
	printf("# hash\t\tsize\t\tflops\t\tmean (us)\tstddev (us)\tn\n");
	for (unsigned e = 0; e < impl->nentries; e++) {
		const struct starpu_perfmodel_history_entry *h = &impl->entries[e]->pub;
		if (!o->has_footprint || h->footprint == o->footprint)
			printf("%08x\t%-15zu\t%-15e\t%-15e\t%-15e\t%u\n", h->footprint, h->size,
			       h->flops, h->mean, h->deviation, h->nsample);
	}
}

/* Everything of the model that was asked for. Returns how much it was, -1 after a message. */
static int print_model(const struct options *o, struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = model->state;
	int shown = 0;
	if (o->parameter && !strcmp(o->parameter, "path-file-debug")) {
		puts(model->path);
		return 1;
	}
	for (unsigned c = 0; s && s->m && c < s->m->data->ncombs; c++) {
		const struct orr_model_comb *comb = s->m->data->combs[c];
		for (unsigned i = 0; i < comb->nimpls; i++) {
			char name[256];
			orr_arch_name(comb->ndevices, comb->devices, (int) i, name, sizeof(name));
			if (!arch_asked(o, name))
				continue;
			shown++;
			if (!o->parameter) {
				print_impl(o, &comb->impls[i], name);
			} else if (print_parameter(o, &comb->impls[i])) {
				fprintf(stderr,
					"starpu_perfmodel_display: --parameter %s: there are a, b, c, alpha, beta, mean, stddev and "
					"path-file-debug\n",
					o->parameter);
				return -1;
			}
		}
	}
	if (!shown && o->arch)
		fprintf(stderr,
			"starpu_perfmodel_display: %s has no measurements for %s; see it without --arch\n",
			o->symbol, o->arch);
	return shown || !o->arch ? shown : -1;
}

static int show(const struct options *o)
{
	struct starpu_perfmodel model = { .type = STARPU_PERFMODEL_INVALID };
	int ret = starpu_perfmodel_load_symbol(o->symbol, &model);
	if (ret)
		return 1;
	if (o->xml)
		starpu_perfmodel_dump_xml(stdout, &model);
	else
		ret = print_model(o, &model) < 0;
	starpu_perfmodel_unload_model(&model);
	return ret;
}

int main(int argc, char **argv)
{
	struct options o;
	int ret = 0;
	parse(&o, argc, argv);
	starpu_perfmodel_initialize();
	if (o.directory)
		starpu_perfmodel_directory(stdout);
	if (o.list)
		ret = starpu_perfmodel_list(stdout) != 0;
	if (!ret && o.symbol)
		ret = show(&o);
	orr_perf_exit(orr_self());
	if (fflush(stdout)) {
		fputs("starpu_perfmodel_display: standard output cannot be written\n", stderr);
		ret = 1;
	}
	return ret;
}
