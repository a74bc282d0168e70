/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_machine_display: the workers, memories and measured buses of this process, as starpu_init
 * finds them here.
 *
 * Started by mpirun it prints for every process, whole lines at once. Invariant: it asks the
 * library only, so it shows what a program would get under the same launcher and environment.
 * Standard output gets one write, after the runtime has ended. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <starpu.h>

static const char usage[] =
	"usage: starpu_machine_display [options]\n"
	"Shows the processing units that a program gets here, their memories, and how fast data travels between these.\n"
	"  -w, --worker TYPE   only workers of a type: CPU, CUDA, OpenCL, MPI_MS, HIP\n"
	"  -c, --count         only how many workers there are\n"
	"  -n, --notopology    leave memories and buses out\n"
	"  -i, --info          also the names of the files of measurements\n"
	"  -h, --help          this text\n"
	"  -v, --version       version\n";

struct options {
	enum starpu_worker_archtype type;
	int count, notopology, info;
};

static enum starpu_worker_archtype type_of(const char *word)
{
	for (int t = 0; t < STARPU_NARCH; t++)
		if (!strcasecmp(word,
				starpu_worker_get_type_as_string((enum starpu_worker_archtype) t)))
			return (enum starpu_worker_archtype) t;
	fprintf(stderr,
		"starpu_machine_display: --worker %s: there are CPU, CUDA, OpenCL, MPI_MS and HIP\n",
		word);
	exit(2);
}

static void parse(struct options *o, int argc, char **argv)
{
	static const struct option names[] = {
		{ "worker", required_argument, NULL, 'w' }, { "count", no_argument, NULL, 'c' },
		{ "notopology", no_argument, NULL, 'n' },   { "info", no_argument, NULL, 'i' },
		{ "force", no_argument, NULL, 'f' },        { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },      { NULL, 0, NULL, 0 }
	};
	int c;
	*o = (struct options){ .type = STARPU_ANY_WORKER };
	while ((c = getopt_long(argc, argv, "w:cnifhv", names, NULL)) != -1) {
		switch (c) {
		case 'w': o->type = type_of(optarg); break;
		case 'c': o->count = 1; break;
		case 'n': o->notopology = 1; break;
		case 'i': o->info = 1; break;
		case 'f':
			fputs("starpu_machine_display: --force: this program measures nothing; run `orrery calibrate', then look again\n",
			      stderr);
			exit(2);
		case 'h': fputs(usage, stdout); exit(0);
		case 'v':
			printf("starpu_machine_display (Orrery) %d.%d.%d\n", STARPU_MAJOR_VERSION,
			       STARPU_MINOR_VERSION, STARPU_RELEASE_VERSION);
			exit(0);
		default: fputs("starpu_machine_display: see --help\n", stderr); exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "starpu_machine_display: %s: it takes options only; see --help\n",
			argv[optind]);
		exit(2);
	}
}

static void print_workers(FILE *f, const struct options *o)
{
	for (int t = 0; t < STARPU_NARCH; t++) {
		enum starpu_worker_archtype type = (enum starpu_worker_archtype) t;
		int asked = o->type == STARPU_ANY_WORKER ? starpu_worker_get_count_by_type(type) > 0
							 : type == o->type;
		if (asked && o->count)
			starpu_worker_display_count(f, type);
		else if (asked)
			starpu_worker_display_names(f, type);
	}
}

static void print_topology(FILE *f)
{
	fprintf(f, "\nmemory nodes\n");
	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++) {
		char name[64];
		starpu_ssize_t total = starpu_memory_get_total(i);
		starpu_memory_node_get_name(i, name, sizeof(name));
		if (total > 0)
			fprintf(f, "\t%u %s, %.1f MiB\n", i, name, (double) total / 1048576);
		else
			fprintf(f, "\t%u %s, no limit\n", i, name);
	}
	fprintf(f, "\nworkers and their processors\n");
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		char name[64];
		int cpu = starpu_worker_get_bindid((int) i);
		starpu_worker_get_name((int) i, name, sizeof(name));
		if (cpu < 0)
			fprintf(f, "\t%s: memory %u, not bound\n", name,
				starpu_worker_get_memory_node(i));
		else
			fprintf(f, "\t%s: memory %u, bound to %d\n", name,
				starpu_worker_get_memory_node(i), cpu);
	}
	fprintf(f, "\n");
	starpu_bus_print_bandwidth(f);
	starpu_bus_print_affinity(f);
}

int main(int argc, char **argv)
{
	struct options o;
	char *text = NULL;
	size_t size = 0;
	parse(&o, argc, argv);
	int ret = starpu_init(NULL);
	if (ret) {
		fprintf(stderr, "starpu_machine_display: the runtime did not start (%s)\n",
			strerror(-ret));
		return 1;
	}
	FILE *f = open_memstream(&text, &size);
	if (!f) {
		fputs("starpu_machine_display: out of memory\n", stderr);
		return 1;
	}
	print_workers(f, &o);
	if (!o.notopology && !o.count)
		print_topology(f);
	if (o.info) {
		starpu_perfmodel_directory(f);
		starpu_bus_print_filenames(f);
	}
	starpu_shutdown();
	fclose(f);
	ret = fwrite(text, 1, size, stdout) != size || fflush(stdout);
	free(text);
	if (ret)
		fputs("starpu_machine_display: standard output cannot be written\n", stderr);
	return ret;
}
