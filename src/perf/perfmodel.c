/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of starpu_perfmodel.h about whole models: life cycle, files, listings.
 *
 * Invariant: a model that a load function filled owns its symbol and its file's contents until
 * starpu_perfmodel_unload_model. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/numbers.h"
#include "base/refuse.h"
#include "perf/model_file.h"
#include "perf/model_state.h"
#include "perf/model_store.h"
#include "perf/near.h"

/* The cost function of the model of tasks that take no time. The program asked for this zero. */
static double no_time(struct starpu_task *t, unsigned nimpl)
{
	(void) t;
	(void) nimpl;
	return 0;
}

struct starpu_perfmodel starpu_perfmodel_nop = { .type = STARPU_COMMON, .cost_function = no_time };

/* ---- life cycle ---- */

void starpu_perfmodel_initialize(void)
{
	orr_perf_get(orr_self());
}

void starpu_perfmodel_init(struct starpu_perfmodel *model)
{
	if (model && model != &starpu_perfmodel_nop)
		orr_model_state(orr_self(), model);
}

int starpu_perfmodel_deinit(struct starpu_perfmodel *model)
{
	orr_model_state_detach(model);
	return 0;
}

static int attach_file(const char *path, const char *symbol, struct starpu_perfmodel *model)
{
	struct orr_model_data *data = NULL;
	int err = orr_model_file_read(path, &data);
	if (err)
		return err;
	struct orr_model *m = orr_model_private(symbol, data);
	if (!m)
		return -ENOMEM;
	char *name = strdup(symbol);
	if (!name || orr_model_state_attach(orr_self(), model, m)) {
		free(name);
		orr_model_release(m);
		return -ENOMEM;
	}
	model->symbol = name;
	model->type = model->type ? model->type : STARPU_HISTORY_BASED;
	snprintf(model->path, sizeof(model->path), "%s", path);
	return 0;
}

int starpu_perfmodel_load_file(const char *filename, struct starpu_perfmodel *model)
{
	/* "dir/SYMBOL.HOST": the host has no slash, and may have dots only when the symbol has
	 * none. */
	const char *base = strrchr(filename, '/');
	base = base ? base + 1 : filename;
	char symbol[256];
	snprintf(symbol, sizeof(symbol), "%.*s", (int) strcspn(base, "."), base);
	int err = attach_file(filename, symbol, model);
	if (err == -ENOENT)
		orr_error("%s: no such performance model file", filename);
	return err;
}

int starpu_perfmodel_load_symbol(const char *symbol, struct starpu_perfmodel *model)
{
	struct orr_perf *p = orr_perf_get(orr_self());
	char path[4096];
	if (!p)
		return -ENOMEM;
	int err = orr_model_locate(symbol, p->host, (const char *const *) p->dirs, path,
				   sizeof(path));
	const char *dot = strchr(symbol, '.');
	if (err && dot && dot[1]) {
		/* The name of a file, SYMBOL.HOST, as listings show it. */
		char name[256];
		snprintf(name, sizeof(name), "%.*s", (int) (dot - symbol), symbol);
		err = orr_model_locate(name, dot + 1, (const char *const *) p->dirs, path,
				       sizeof(path));
	}
	if (err) {
		char near[1024];
		orr_near_models(symbol, p->host, (const char *const *) p->dirs, near, sizeof(near));
		orr_error(
			"performance model %s: no file for machine %s in %s or the places of STARPU_PERF_MODEL_PATH; list the models, or "
			"name the machine with STARPU_HOSTNAME%s",
			symbol, p->host, p->dirs[p->ndirs - 1], near);
		return -ENOENT;
	}
	return attach_file(path, symbol, model);
}

int starpu_perfmodel_unload_model(struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = orr_model_state_there(model);
	int owned = s && s->m && !s->m->key;
	orr_model_state_detach(model);
	if (owned) {
		free((char *) model->symbol);
		model->symbol = NULL;
	}
	return 0;
}

void starpu_save_history_based_model(struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = orr_model_state(orr_self(), model);
	if (s && s->m && s->m->key)
		orr_model_save(s->m, s->perf->dirs[s->perf->ndirs - 1]);
}

void starpu_perfmodel_get_model_path(const char *symbol, char *path, size_t maxlen)
{
	struct orr_perf *p = orr_perf_get(orr_self());
	if (maxlen)
		path[0] = 0;
	if (p && orr_model_locate(symbol, p->host, (const char *const *) p->dirs, path, maxlen))
		snprintf(path, maxlen, "%s/codelets/45/%s.%s", p->dirs[p->ndirs - 1], symbol,
			 p->host);
}

void starpu_perfmodel_debugfilepath(struct starpu_perfmodel *model,
				    struct starpu_perfmodel_arch *arch, char *path, size_t maxlen,
				    unsigned nimpl)
{
	struct orr_perf *p = orr_perf_get(orr_self());
	char name[128];
	starpu_perfmodel_get_arch_name(arch, name, sizeof(name), nimpl);
	snprintf(path, maxlen, "%s/debug/%s.%s.%s", p ? p->dirs[p->ndirs - 1] : ".", model->symbol,
		 p ? p->host : "localhost", name);
}

/* ---- listings ---- */

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

int starpu_perfmodel_list(FILE *output)
{
	struct orr_perf *p = orr_perf_get(orr_self());
	for (unsigned i = 0; p && i < p->ndirs; i++) {
		char dir[4096];
		struct dirent **names;
		snprintf(dir, sizeof(dir), "%s/codelets/45", p->dirs[i]);
		int n = scandir(dir, &names, visible, alphasort);
		for (int k = 0; k < n; k++) {
			fprintf(output, "file: <%s>\n", names[k]->d_name);
			free(names[k]);
		}
		if (n >= 0)
			free(names);
	}
	return p ? 0 : -ENOMEM;
}

void starpu_perfmodel_directory(FILE *output)
{
	struct orr_perf *p = orr_perf_get(orr_self());
	fprintf(output, "directory: <%s>\n", p ? p->dirs[p->ndirs - 1] : "");
}

static void xml_regression(FILE *f, const struct starpu_perfmodel_regression_model *r)
{
	if (r->valid)
		fprintf(f, "      <l_regression alpha=\"%.9g\" beta=\"%.9g\"/>\n", r->alpha,
			r->beta);
	if (r->nl_valid)
		fprintf(f, "      <nl_regression a=\"%.9g\" b=\"%.9g\" c=\"%.9g\"/>\n", r->a, r->b,
			r->c);
	if (!r->multi_valid)
		return;
	fprintf(f, "      <ml_regression constant=\"%.9g\">\n", r->coeff[0]);
	for (unsigned i = 1; i < r->ncoeff; i++)
		fprintf(f, "        <monomial coeff=\"%.9g\"/>\n", r->coeff[i]);
	fprintf(f, "      </ml_regression>\n");
}

static void xml_comb(FILE *f, const struct orr_model_comb *c, unsigned comb)
{
	char name[256];
	fprintf(f, "  <combination>\n");
	for (int i = 0; i < c->ndevices; i++) {
		size_t k = 0;
		for (const char *t = starpu_perfmodel_get_archtype_name(c->devices[i].type); t[k];
		     k++)
			name[k] = (char) toupper((unsigned char) t[k]);
		name[k] = 0;
		fprintf(f, "    <device type=\"%s\" id=\"%d\"", name, c->devices[i].devid);
		if (c->devices[i].type == STARPU_CPU_WORKER)
			fprintf(f, " ncores=\"%d\"", c->devices[i].ncores);
		fprintf(f, "/>\n");
	}
	for (unsigned n = 0; n < c->nimpls; n++) {
		const struct orr_model_impl *impl = &c->impls[n];
		orr_arch_name(c->ndevices, c->devices, (int) n, name, sizeof(name));
		fprintf(f, "    <implementation id=\"%u\">\n      <!-- %s (Comb%u) -->\n", n, name,
			comb);
		xml_regression(f, &impl->reg);
		for (unsigned e = 0; e < impl->nentries; e++) {
			const struct starpu_perfmodel_history_entry *h = &impl->entries[e]->pub;
			fprintf(f,
				"      <entry footprint=\"%08x\" size=\"%zu\" flops=\"%e\" mean=\"%e\" deviation=\"%e\" sum=\"%e\" sum2=\"%e\" "
				"nsample=\"%u\"/>\n",
				h->footprint, h->size, h->flops, h->mean, h->deviation, h->sum,
				h->sum2, h->nsample);
		}
		fprintf(f, "    </implementation>\n");
	}
	fprintf(f, "  </combination>\n");
}

void starpu_perfmodel_dump_xml(FILE *output, struct starpu_perfmodel *model)
{
	ORR_PLAIN_NUMBERS;
	struct _starpu_perfmodel_state *s = orr_model_state(orr_self(), model);
	fprintf(output,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE StarPUPerfmodel SYSTEM \"starpu-perfmodel.dtd\">\n");
	fprintf(output, "<!-- symbol ");
	/* Two hyphens would end the comment. */
	for (const char *c = model->symbol ? model->symbol : ""; *c; c++)
		fputc(*c == '-' && (c[1] == '-' || !c[1]) ? '_'
		      : (unsigned char) *c < ' '          ? '_'
							  : *c,
		      output);
	fprintf(output, " -->\n<!-- All times in us -->\n<perfmodel version=\"45\">\n");
	if (s && s->m) {
		orr_lock(&s->m->lock);
		for (unsigned c = 0; c < s->m->data->ncombs; c++)
			xml_comb(output, s->m->data->combs[c], c);
		orr_unlock(&s->m->lock);
	}
	fprintf(output, "</perfmodel>\n");
}

void starpu_perfmodel_free_sampling(void) {}

/* ---- printing, which is refused ---- */

static const char tool[] = "`orrery perfmodel' prints models";

void starpu_perfmodel_print(struct starpu_perfmodel *model, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl, char *parameter, uint32_t *footprint, FILE *output)
{
	(void) model;
	(void) arch;
	(void) nimpl;
	(void) parameter;
	(void) footprint;
	(void) output;
	orr_refuse(__func__, tool);
}

int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch, char *parameter,
			       uint32_t *footprint, FILE *output)
{
	(void) model;
	(void) arch;
	(void) parameter;
	(void) footprint;
	(void) output;
	return orr_refuse(__func__, tool);
}

int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model, uint32_t footprint,
				       FILE *output)
{
	(void) model;
	(void) footprint;
	(void) output;
	return orr_refuse(__func__, tool);
}

int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model)
{
	(void) output;
	(void) model;
	return orr_refuse(__func__, tool);
}
