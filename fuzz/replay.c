/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a target without libFuzzer, as any compiler builds it: every input of its corpus, then
 * random changes of these.
 *
 *      NAME_fuzz [-n CHANGES] [-s SEED] [-t SECONDS] [FILE or FOLDER ...]
 *
 * Without files: the corpus of the source tree, $ORR_TEST_SRCDIR/fuzz/corpus/NAME. CHANGES is the
 * number of changed inputs ($FUZZ_CHANGES, or 20000); with SECONDS ($FUZZ_SECONDS), the least
 * number, and it goes on until they are over. Invariant: the same arguments give the same
 * inputs. An input that ends the program is left in NAME_fuzz.crash, in the current folder. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "fuzz.h"

#define LARGEST (1 << 16)

struct input {
	char *text;
	size_t size;
};

static struct input *corpus;
static unsigned ninputs;
static uint64_t state;
static struct input current;
static char crash_file[256] = "fuzz.crash";

/* ---- what ends the program ---- */

static void keep(void)
{
	int fd = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || write(fd, current.text, current.size) != (ssize_t) current.size)
		return;
	close(fd);
	static const char said[] = "the input that did this is in ";
	if (write(2, said, sizeof(said) - 1) < 0 || write(2, crash_file, strlen(crash_file)) < 0 ||
	    write(2, "\n", 1) < 0)
		_exit(1);
}

static void on_signal(int sig)
{
	keep();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Sanitizers end the program by themselves. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void)
{
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep);
	else
		signal(SIGSEGV, on_signal);
	signal(SIGABRT, on_signal);
}

/* ---- the corpus ---- */

static void add_file(const char *path)
{
	FILE *f = fopen(path, "re");
	if (!f) {
		fprintf(stderr, "%s: cannot be opened\n", path);
		exit(2);
	}
	struct input in = { malloc(LARGEST), 0 };
	MUST(in.text);
	in.size = fread(in.text, 1, LARGEST, f);
	fclose(f);
	corpus = realloc(corpus, (ninputs + 1) * sizeof(*corpus));
	MUST(corpus);
	corpus[ninputs++] = in;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void add(const char *path)
{
	struct stat st;
	struct dirent **names;
	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		add_file(path);
		return;
	}
	int n = scandir(path, &names, visible, alphasort);
	for (int i = 0; i < n; i++) {
		char file[4096];
		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		add_file(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* ---- changes ---- */

static unsigned below(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return n ? (unsigned) ((state * 0x2545f4914f6cdd1dULL >> 32) % n) : 0;
}

/* Replaces [at, at + gone) by other bytes, as far as there is room. */
static void replace(struct input *in, size_t at, size_t gone, const char *with, size_t n)
{
	if (in->size - gone + n > LARGEST)
		return;
	memmove(in->text + at + n, in->text + at + gone, in->size - at - gone);
	memcpy(in->text + at, with, n);
	in->size += n - gone;
}

/* A word of the text, by the place that it begins at and its length. */
static size_t word(const struct input *in, size_t *length)
{
	size_t at = below((unsigned) in->size), end;
	while (at > 0 && !strchr(" \t\n=,", in->text[at - 1]))
		at--;
	for (end = at; end < in->size && !strchr(" \t\n=,", in->text[end]); end++)
		;
	*length = end - at;
	return at;
}

static size_t line(const struct input *in, size_t *length)
{
	size_t at = below((unsigned) in->size), end;
	while (at > 0 && in->text[at - 1] != '\n')
		at--;
	for (end = at; end < in->size && in->text[end] != '\n'; end++)
		;
	*length = end - at + (end < in->size);
	return at;
}

static void change_word(struct input *in)
{
	static const char *const words[] = {
		"0",
		"-1",
		"1",
		"2",
		"nan",
		"-nan",
		"inf",
		"-inf",
		"1e999",
		"1e308",
		"-1e308",
		"1e-320",
		"1e100",
		"0x10",
		"1e5",
		"1.5",
		"-0",
		"+1",
		"4294967295",
		"4294967296",
		"2147483648",
		"18446744073709551615",
		"99999999999999999999",
		"",
		"x",
		"#",
		"1,5",
		"ffffffff",
		"'",
	};
	size_t n, at = word(in, &n);
	const char *w = words[below(sizeof(words) / sizeof(words[0]))];
	replace(in, at, n, w, strlen(w));
}

/* A line goes, comes twice, or moves. */
static void change_line(struct input *in)
{
	static char copy[LARGEST];
	size_t n, at = line(in, &n), n2, to;
	memcpy(copy, in->text + at, n);
	switch (below(3)) {
	case 0: replace(in, at, n, "", 0); break;
	case 1: replace(in, at, 0, copy, n); break;
	default:
		replace(in, at, n, "", 0);
		to = in->size ? line(in, &n2) : 0;
		replace(in, to, 0, copy, n);
	}
}

static void change_bytes(struct input *in)
{
	size_t at = below((unsigned) in->size), n = 1 + below(8);
	char byte = (char) below(256);
	if (n > in->size - at)
		n = in->size - at;
	switch (below(4)) {
	case 0: in->text[at] = byte; break;
	case 1: replace(in, at, 0, &byte, 1); break;
	case 2: replace(in, at, n, "", 0); break;
	default: in->text[at] = (char) (in->text[at] ^ 1 << below(8));
	}
}

/* The beginning of this one and the end of another. */
static void join(struct input *in)
{
	const struct input *other = &corpus[below(ninputs)];
	size_t at = below((unsigned) in->size), from = below((unsigned) other->size);
	in->size = at;
	replace(in, at, 0, other->text + from, other->size - from);
}

static void change(struct input *in)
{
	for (unsigned n = 1 + below(4); n && in->size; n--) {
		switch (below(8)) {
		case 0:
		case 1:
		case 2: change_word(in); break;
		case 3:
		case 4: change_line(in); break;
		case 5:
		case 6: change_bytes(in); break;
		default:
			if (below(2))
				join(in);
			else
				in->size = below((unsigned) in->size);
		}
	}
}

/* ---- the run ---- */

static void run(const struct input *in)
{
	current = *in;
	LLVMFuzzerTestOneInput((const uint8_t *) in->text, in->size);
}

static void default_corpus(const char *name)
{
	const char *src = getenv("ORR_TEST_SRCDIR");
	char path[4096];
	int n = (int) strlen(name) - (int) strlen("_fuzz");
	snprintf(path, sizeof(path), "%s/fuzz/corpus/%.*s", src ? src : ".", n > 0 ? n : 0, name);
	add(path);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0],
		   *changes = getenv("FUZZ_CHANGES"), *seconds = getenv("FUZZ_SECONDS");
	unsigned long n = changes ? strtoul(changes, NULL, 10) : 20000, seed = 1,
		      t = seconds ? strtoul(seconds, NULL, 10) : 0, done = 0;
	int opt;
	if (!strncmp(name, "lt-", 3))
		name += 3;
	while ((opt = getopt(argc, argv, "n:s:t:")) != -1) {
		if (opt == '?') {
			fprintf(stderr,
				"usage: %s [-n CHANGES] [-s SEED] [-t SECONDS] [FILE or FOLDER ...]\n",
				name);
			return 2;
		}
		*(opt == 'n' ? &n : opt == 's' ? &seed : &t) = strtoul(optarg, NULL, 10);
	}
	for (int i = optind; i < argc; i++)
		add(argv[i]);
	if (optind == argc)
		default_corpus(name);
	if (!ninputs) {
		fprintf(stderr, "%s: the corpus is empty\n", name);
		return 2;
	}
	snprintf(crash_file, sizeof(crash_file), "%s.crash", name);
	watch();
	for (unsigned i = 0; i < ninputs; i++)
		run(&corpus[i]);
	state = 0x9e3779b97f4a7c15ULL * (seed + 1);
	struct input in = { malloc(LARGEST), 0 };
	MUST(in.text);
	time_t begin = time(NULL);
	/* The clock is read once in a while. */
	for (; done < n || (t && (done % 256 || (unsigned long) (time(NULL) - begin) < t));
	     done++) {
		const struct input *from = &corpus[below(ninputs)];
		memcpy(in.text, from->text, from->size);
		in.size = from->size;
		change(&in);
		run(&in);
	}
	printf("%s: %u inputs of the corpus, %lu changed ones\n", name, ninputs, done);
	free(in.text);
	for (unsigned i = 0; i < ninputs; i++)
		free(corpus[i].text);
	free(corpus);
	return 0;
}
