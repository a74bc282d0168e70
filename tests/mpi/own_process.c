/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each rank has for itself what a process has: what it sets, draws or opens is neither changed nor
 * seen by the others, who do the same at the same time. doc/simulating.md has the list.
 *
 * orr-test: timeout 60 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include "mpi_test.h"

/* The others run up to the same place. */
static void others(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void same_everywhere(long x)
{
	long least, most;

	MPI_Allreduce(&x, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&x, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
	CHECK(least == most, "%ld here, from %ld to %ld elsewhere", x, least, most);
}

static void random_numbers(void)
{
	static char state[256], state2[256];
	unsigned short seed[3] = { 1, 2, 3 }, parameters[7] = { 1, 2, 3, 4, 5, 6, 7 };

	/* The first numbers of a process that was not seeded. */
	CHECK_IS(rand(), 1804289383);
	others();
	CHECK_IS(random(), 846930886);
	srand(10);
	int first = rand();
	others();
	srand(10);
	others();
	CHECK_IS(rand(), first);
	srandom(7);
	long number = random();
	others();
	srandom(7);
	others();
	CHECK_IS(random(), number);
	CHECK(initstate(3, state, sizeof(state)));
	number = random();
	char *before = initstate(3, state2, sizeof(state2));
	CHECK(before == state);
	others();
	CHECK_IS(random(), number);
	CHECK(setstate(before) == state2);
	for (int i = 0; i < 3; i++)
		same_everywhere(random());
	same_everywhere((long) (drand48() * 1e15));
	srand48(5);
	for (int i = 0; i < 3; i++) {
		same_everywhere(lrand48());
		same_everywhere(mrand48());
		same_everywhere((long) (drand48() * 1e15));
	}
	CHECK(seed48(seed) != NULL);
	same_everywhere(lrand48());
	lcong48(parameters);
	same_everywhere(lrand48());
	same_everywhere(nrand48(seed));
	same_everywhere(jrand48(seed));
	same_everywhere((long) (erand48(seed) * 1e15));
}

static void texts(void)
{
	char words[] = "one two three", name[L_tmpnam];

	CHECK(!strcmp(strtok(words, " "), "one"));
	others();
	CHECK(!strcmp(strtok(NULL, " "), "two"));
	others();
	CHECK(!strcmp(strtok(NULL, " "), "three"));
	CHECK(strtok(NULL, " ") == NULL);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	char *mine = tmpnam(NULL);
#pragma GCC diagnostic pop
	CHECK(mine && strlen(mine) < sizeof(name));
	strcpy(name, mine);
	time_t day = 86400L * 366 * (rank + 1);
	struct tm *tm = gmtime(&day);
	others();
	CHECK(!strcmp(mine, name), "%s was %s", mine, name);
	CHECK_IS(tm->tm_year, 71 + rank);
	char *text = asctime(tm), year[16];
	others();
	snprintf(year, sizeof(year), "%d\n", 1971 + rank);
	CHECK(strstr(text, year), "%s", text);
	errno = 1000 + rank;
	others();
	usleep(1000);
	CHECK_IS(errno, 1000 + rank);
	errno = 0;
}

static void environment(void)
{
	static char setting[64];
	char value[32];

	setenv("OWN_ALL", "before", 1);
	others();
	snprintf(value, sizeof(value), "%d", rank);
	setenv("OWN_RANK", value, 1);
	snprintf(setting, sizeof(setting), "OWN_PUT=%d", rank);
	putenv(setting);
	if (rank == 0)
		unsetenv("OWN_ALL");
	others();
	CHECK(!strcmp(getenv("OWN_RANK"), value));
	CHECK(!strcmp(getenv("OWN_PUT"), value));
	CHECK(!getenv("OWN_ALL") == !rank);
	setenv("OWN_RANK", "again", 0);
	CHECK(!strcmp(getenv("OWN_RANK"), value));
	others();
	if (rank == 1)
		clearenv();
	others();
	CHECK(!getenv("OWN_RANK") == (rank == 1));
	/* The runtime reads the rank's. */
	setenv("STARPU_NCPU", rank % 2 ? "1" : "2", 1);
}

static void folders(void)
{
	char folder[] = "/tmp/orrery-own-XXXXXX", here[PATH_MAX], start[PATH_MAX];
	struct stat s;

	CHECK(getcwd(start, sizeof(start)));
	if (rank > 0) {
		CHECK(mkdtemp(folder));
		OK(chdir(folder));
	}
	others();
	CHECK(getcwd(here, sizeof(here)));
	CHECK(!strcmp(here, rank ? folder : start), "%s", here);
	mode_t before = umask((mode_t) (rank % 8));
	others();
	CHECK_IS(umask((mode_t) (rank % 8)), rank % 8);
	if (rank > 0) {
		int fd = open("file", O_CREAT | O_WRONLY, 0666);
		CHECK(fd >= 0);
		OK(fstat(fd, &s));
		CHECK_IS(s.st_mode & 0777, 0666 & ~(rank % 8));
		close(fd);
		others();
		OK(unlink("file"));
		OK(chdir(start));
		OK(rmdir(folder));
	} else {
		others();
	}
	umask(before);
	others();
	CHECK(getcwd(here, sizeof(here)) && !strcmp(here, start));
}

static void locales(void)
{
	char number[32];

	CHECK(!strcmp(setlocale(LC_ALL, NULL), "C"));
	others();
	const char *german = rank == 1 ? setlocale(LC_NUMERIC, "de_DE.UTF-8") : NULL;
	others();
	snprintf(number, sizeof(number), "%.1f", 1.5);
	CHECK(!strcmp(number, german ? "1,5" : "1.5"), "%s", number);
	CHECK(!strcmp(setlocale(LC_NUMERIC, NULL), german ? "de_DE.UTF-8" : "C"));
	const char *all = setlocale(LC_ALL, NULL);
	CHECK(german ? strstr(all, "LC_NUMERIC=de_DE.UTF-8") != NULL : !strcmp(all, "C"), "%s",
	      all);
	CHECK(!setlocale(LC_ALL, "no_such_locale"));
	others();
	CHECK(setlocale(LC_ALL, "C"));
	snprintf(number, sizeof(number), "%.1f", 1.5);
	CHECK(!strcmp(number, "1.5"));
}

static int caught, caught_value;
static sigjmp_buf after;

static void handler(int sig)
{
	caught = sig;
}

static void with_info(int sig, siginfo_t *info, void *context)
{
	(void) context;
	caught = sig;
	caught_value = info->si_signo;
}

static void jump(int sig)
{
	siglongjmp(after, sig);
}

static void signals(void)
{
	struct sigaction action = { .sa_sigaction = with_info, .sa_flags = SA_SIGINFO }, before;

	signal(SIGUSR1, SIG_DFL); /* some MPIs and UCX handle them */
	signal(SIGUSR2, SIG_DFL);
	others();
	CHECK(signal(SIGUSR1, rank % 2 ? handler : SIG_IGN) == SIG_DFL);
	others();
	OK(raise(SIGUSR1));
	CHECK_IS(caught, rank % 2 ? SIGUSR1 : 0);
	OK(sigaction(SIGUSR2, &action, &before));
	CHECK(before.sa_handler == SIG_DFL);
	others();
	OK(kill(getpid(), SIGUSR2));
	CHECK_IS(caught, SIGUSR2);
	CHECK_IS(caught_value, SIGUSR2);
	OK(sigaction(SIGUSR1, NULL, &before));
	CHECK(before.sa_handler == (rank % 2 ? handler : SIG_IGN));
	others();
	/* A crash that the program handles itself. */
	signal(SIGSEGV, jump);
	if (!sigsetjmp(after, 1))
		raise(SIGSEGV);
	volatile int *volatile nowhere = (int *) 64; /* never mapped; sanitizers look for NULL */
	signal(SIGSEGV, jump);
	int sig = sigsetjmp(after, 1);
	if (!sig)
		*nowhere = 1;
	CHECK_IS(sig, SIGSEGV);
	signal(SIGSEGV, SIG_DFL);
	others();
	/* One alarm each, at different times. */
	signal(SIGALRM, handler);
	caught = 0;
	struct itimerval soon = { .it_value = { 0, 20000 * (1 + rank) } };
	OK(setitimer(ITIMER_REAL, &soon, NULL));
	double start = starpu_timing_now();
	while (!caught && starpu_timing_now() - start < 5e6)
		usleep(1000);
	CHECK_IS(caught, SIGALRM);
	CHECK(starpu_timing_now() - start > 19000 * (1 + rank));
	alarm(100);
	CHECK(alarm(0) >= 99);
}

static void process(void)
{
	char path[PATH_MAX], other[PATH_MAX], word[64] = "";
	int ranks[size];
	pid_t pid = getpid();

	CHECK_IS(sizeof(pid), sizeof(int));
	MPI_Allgather(&pid, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		CHECK(i == rank || ranks[i] != ranks[rank]);
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	CHECK(n > 0);
	path[n] = 0;
	CHECK(strstr(path, "own_process"), "%s", path);
	CHECK(realpath("/proc/self/exe", other) && !strcmp(path, other), "%s", other);
	int fd = open("/proc/self/exe", O_RDONLY);
	CHECK(fd >= 0 && read(fd, word, 4) == 4 && !memcmp(word, "\177ELF", 4));
	close(fd);
	FILE *f = fopen("/proc/self/cmdline", "r");
	CHECK(f && fgets(path, sizeof(path), f) && strstr(path, "own_process"), "%s", path);
	fclose(f);
}

static void options(void)
{
	char *words[] = { "program", "-a", "-b", "value", "rest", NULL };

	optind = 1;
	for (int i = 0; i < 1 + rank % 2; i++) {
		CHECK_IS(getopt(4, words, "ab:"), i ? 'b' : 'a');
		if (i)
			CHECK(!strcmp(optarg, "value"));
	}
	int mine = optind;
	others();
	CHECK_IS(optind, mine);
	CHECK_IS(mine, rank % 2 ? 4 : 2);
}

/* Clocks of the processor go on with the time that passes, and never back. */
static void use_of_time(void)
{
	struct rusage u, v;
	struct tms t;
	clock_t before = clock(), ticks = times(&t);
	struct timespec span = { 0, 30000000 };
	struct timeval tv = { 0, 10000 };
	double start = starpu_timing_now();

	OK(getrusage(RUSAGE_SELF, &u));
	OK(clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL));
	OK(poll(NULL, 0, 10));
	OK(select(0, NULL, NULL, NULL, &tv));
	CHECK(starpu_timing_now() - start >= 49900, "%g", starpu_timing_now() - start);
	OK(getrusage(RUSAGE_SELF, &v));
	CHECK(v.ru_utime.tv_sec >= u.ru_utime.tv_sec && clock() >= before);
	CHECK(times(&t) >= ticks + 3);
}

/* A lock of a file excludes the other ranks, and a rank that waits for it gets it. */
static void locks(void)
{
	char name[64] = "/tmp/orrery-own-lock-";
	int number = (int) getpid(), held = 0, fd;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(name + strlen(name), 20, "%d", number);
	fd = open(name, O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0);
	others();
	for (int kind = 0; kind < 3; kind++) {
		int ret = kind == 0   ? fcntl(fd, F_SETLK, &lock)
			  : kind == 1 ? flock(fd, LOCK_EX | LOCK_NB)
				      : lockf(fd, F_TLOCK, 1);
		int mine = ret == 0;
		MPI_Allreduce(&mine, &held, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK_IS(held, 1);
		others();
		lock.l_type = F_UNLCK;
		if (mine)
			OK(kind == 0   ? fcntl(fd, F_SETLK, &lock)
			   : kind == 1 ? flock(fd, LOCK_UN)
				       : lockf(fd, F_ULOCK, 1));
		lock.l_type = F_WRLCK;
		others();
		/* One after the other. */
		OK(kind == 0   ? fcntl(fd, F_SETLKW, &lock)
		   : kind == 1 ? flock(fd, LOCK_EX)
			       : lockf(fd, F_LOCK, 1));
		usleep(1000);
		lock.l_type = F_UNLCK;
		OK(kind == 0   ? fcntl(fd, F_SETLK, &lock)
		   : kind == 1 ? flock(fd, LOCK_UN)
			       : lockf(fd, F_ULOCK, 1));
		lock.l_type = F_WRLCK;
		others();
	}
	close(fd);
	others();
	if (rank == 0)
		unlink(name);
}

static void workers(void)
{
	OK(starpu_init(NULL));
	CHECK_IS(starpu_cpu_worker_get_count(), rank % 2 ? 1 : 2);
	starpu_shutdown();
}

int main(int argc, char **argv)
{
	int provided;

	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	test_rank = rank;
	options();
	random_numbers();
	texts();
	folders();
	locales();
	signals();
	process();
	use_of_time();
	locks();
	environment();
	workers();
	MPI_Finalize();
	return 0;
}
