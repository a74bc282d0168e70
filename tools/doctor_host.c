/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-doctor-host: what `orrery doctor` asks on each host. It reads requests, one a line, and
 * answers each with lines, the last of which is "end":
 *
 *      facts                  "NAME VALUE": what this host is and allows (doctor_facts.c)
 *      time                   "time SECONDS" of the clock that tells the date
 *      home                   makes a file at home: "kept PATH", or "refused PATH WHY"
 *      look PATH              "there" or "absent"
 *      drop PATH              removes a file that "home" has made
 *      listen FIRST LAST      takes connections: "port N", or "refused WHY"; 0 0: at any port
 *      connect NAME PORT MS BYTES
 *                             "connected ADDRESS LATENCY_US BYTES_PER_S", or "failed WHY";
 *                             with 0 bytes nothing is measured
 *
 * Invariant: no request takes longer than its time, and the program ends with its input, at the
 * latest after LIFE_S. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "doctor_host.h"

enum { LIFE_S = 900 };

static void tell_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("time %lld.%09ld\n", (long long) now.tv_sec, now.tv_nsec);
}

static void keep_file(void)
{
	const char *home = getenv("HOME");
	char path[4096];

	snprintf(path, sizeof(path), "%s/.orrery-doctor-XXXXXX", home ? home : "");
	int fd = mkstemp(path);
	if (fd < 0) {
		printf("refused %s %s\n", home && *home ? home : "$HOME", strerror(errno));
		return;
	}
	close(fd);
	printf("kept %s\n", path);
}

/* Only a file of keep_file is ever removed. */
static void drop_file(const char *path)
{
	const char *name = strrchr(path, '/');

	if (name && !strncmp(name, "/.orrery-doctor-", 16))
		unlink(path);
}

static void answer(char *line)
{
	char name[256];
	int first, last, port, ms;
	long long bytes;

	if (!strcmp(line, "facts"))
		doctor_facts();
	else if (!strcmp(line, "time"))
		tell_time();
	else if (!strcmp(line, "home"))
		keep_file();
	else if (!strncmp(line, "look ", 5))
		puts(access(line + 5, F_OK) ? "absent" : "there");
	else if (!strncmp(line, "drop ", 5))
		drop_file(line + 5);
	else if (sscanf(line, "listen %d %d", &first, &last) == 2)
		doctor_listen(first, last);
	else if (sscanf(line, "connect %255s %d %d %lld", name, &port, &ms, &bytes) == 4)
		doctor_connect(name, port, ms, bytes);
	else
		puts("unknown");
	puts("end");
	fflush(stdout);
}

int main(void)
{
	char line[8192];

	signal(SIGPIPE, SIG_IGN);
	alarm(LIFE_S);
	puts("orrery-doctor-host 1\nend");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		answer(line);
	}
	return 0;
}
