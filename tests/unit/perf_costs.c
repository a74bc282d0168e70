/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own files of a machine, .costs and .memory: good ones give their numbers; each kind of bad
 * line is refused with one message that names file, line, and what is expected there. */
#include <errno.h>
#include "perf/machine.h"
#include "perf_util.h"

#define NCUDA 3

static struct orr_machine machine;
static size_t sizes[NCUDA];
static double costs[ORR_NCOSTS];

static int read_memory(const char *text)
{
	char copy[512];
	snprintf(copy, sizeof(copy), "%s", text);
	memset(sizes, 0, sizeof(sizes));
	machine = (struct orr_machine){ .ncuda = NCUDA,
					.memory = sizes,
					.alloc_us = NAN,
					.pin_us = NAN,
					.launch_us = NAN,
					.disk_us = NAN };
	return orr_machine_parse_memory(copy, "box.memory", &machine);
}

static int read_costs(const char *text)
{
	char copy[512];
	snprintf(copy, sizeof(copy), "%s", text);
	return orr_machine_parse_costs(copy, "box.costs", costs);
}

/* Refused in that line, with a message that has `words`. */
static void refuse(int (*read)(const char *), const char *text, unsigned line, const char *words)
{
	char place[64];
	capture();
	int err = read(text);
	const char *said = captured(), *once;
	snprintf(place, sizeof(place), "box.%s:%u: malformed",
		 read == read_costs ? "costs" : "memory", line);
	once = strstr(said, place);
	CHECK(err == -EINVAL && once && !strstr(once + strlen(place), "malformed") &&
		      strstr(said, words),
	      "%d, message: %s\nexpected `%s' and `%s' for:\n%s", err, said, place, words, text);
}

static void good_costs(void)
{
	CHECK(read_costs("") == 0);
	for (int i = 0; i < ORR_NCOSTS; i++)
		CHECK(isnan(costs[i]));
	CHECK(read_costs(
		      "# comment\n\nsubmit_us 0.5\n\tforeign_us\t4e-2 \r\nmessage_us 0\ncomplete_us 1000000\nsched_us +2.5") ==
	      0);
	CHECK(costs[ORR_COST_SUBMIT] == 0.5 && costs[ORR_COST_FOREIGN] == 0.04 &&
	      costs[ORR_COST_MESSAGE] == 0);
	CHECK(costs[ORR_COST_COMPLETE] == 1e6 && costs[ORR_COST_SCHED] == 2.5);
}

static void bad_costs(void)
{
	static const char names[] =
		"one of submit_us, access_us, foreign_us, complete_us, datum_us, sched_us, reload_us, reload_large_us, message_us, interrupt_us, wake_us, look_us, profile_submit_us, profile_us, shared_us, shared_datum_us, shared_profile_us, turn_us and buffer_us",
			  number[] = "a number of microseconds";
	refuse(read_costs, "submit 1\n", 1, names);
	refuse(read_costs, "# fine\nsubmit_us 1\nsubmitt_us 1\n", 3, names);
	refuse(read_costs, "SUBMIT_US 1\n", 1, names);
	refuse(read_costs, "submit_us=1\n", 1, names);
	refuse(read_costs, "1 submit_us\n", 1, names);
	refuse(read_costs, "submit_us\n", 1, number);
	refuse(read_costs, "submit_us fast\n", 1, number);
	refuse(read_costs, "submit_us 1 us\n", 1, number);
	refuse(read_costs, "submit_us 1us\n", 1, number);
	refuse(read_costs, "submit_us 1,5\n", 1, number);
	refuse(read_costs, "submit_us -1\n", 1, number);
	refuse(read_costs, "submit_us nan\n", 1, number);
	refuse(read_costs, "submit_us inf\n", 1, number);
	refuse(read_costs, "submit_us 1e999\n", 1, number);
	refuse(read_costs, "submit_us 1000001\n", 1, number);
	refuse(read_costs, "submit_us 1\nsched_us 1\nsubmit_us 1\n", 3, "only once");
}

static void good_memory(void)
{
	CHECK(read_memory("") == 0 && sizes[0] == 0 && machine.link_mbs[0] == 0 &&
	      isnan(machine.alloc_us) && machine.disk_mbs[1] == 0 && isnan(machine.disk_us));
	CHECK(read_memory(
		      "# comment\n\ncuda2 5375 MiB\n cuda0\t0.5e3 MiB \r\nlink_in 6000 MB/s\nlink_out 6500.5 MB/s\nalloc 0 us\npin 650.5 us\nlaunch 5 us") ==
	      0);
	CHECK(sizes[2] == 5375UL << 20 && sizes[0] == 500UL << 20 && sizes[1] == 0);
	CHECK(machine.link_mbs[0] == 6000 && machine.link_mbs[1] == 6500.5 &&
	      machine.alloc_us == 0 && machine.pin_us == 650.5 && machine.launch_us == 5);
	CHECK(read_memory("disk_write 900 MB/s\ndisk_read 1.5e3 MB/s\ndisk_latency 80 us\n") == 0);
	CHECK(machine.disk_mbs[0] == 1500 && machine.disk_mbs[1] == 900 && machine.disk_us == 80 &&
	      isnan(machine.alloc_us));
}

static void bad_memory(void)
{
	static const char shape[] = "a word, a number and its unit", size[] = "a size such as",
			  names[] = "link_in, link_out";
	static const char rate[] = "a bandwidth such as", time[] = "a time such as";
	refuse(read_memory, "cuda0\n", 1, shape);
	refuse(read_memory, "cuda0 5375\n", 1, shape);
	refuse(read_memory, "cuda0 MiB 5375\n", 1, shape);
	refuse(read_memory, "cuda0 5375 MiB more\n", 1, shape);
	refuse(read_memory, "cuda0 -1 MiB\n", 1, shape);
	refuse(read_memory, "cuda0 nan MiB\n", 1, shape);
	refuse(read_memory, "cuda0 0 MiB\n", 1, size);
	refuse(read_memory, "cuda0 inf MiB\n", 1, size);
	refuse(read_memory, "cuda0 1e12 MiB\n", 1, size);
	refuse(read_memory, "cuda0 5 GiB\n", 1, size);
	refuse(read_memory, "cuda0 5 mib\n", 1, size);
	refuse(read_memory, "cuda0 5375 MB/s\n", 1, size);
	refuse(read_memory, "cuda3 5375 MiB\n", 1, "than .config announces");
	refuse(read_memory, "cuda99999999999999999999 5375 MiB\n", 1, "than .config announces");
	refuse(read_memory, "cuda1 5375 MiB\ncuda2 1 MiB\ncuda1 5375 MiB\n", 3, "only once");
	refuse(read_memory, "cuda 5375 MiB\n", 1, names);
	refuse(read_memory, "cuda-1 5375 MiB\n", 1, names);
	refuse(read_memory, "cuda1x 5375 MiB\n", 1, names);
	refuse(read_memory, "CUDA0 5375 MiB\n", 1, names);
	refuse(read_memory, "linkin 6000 MB/s\n", 1, names);
	refuse(read_memory, "a_word_that_is_longer_than_any_that_we_know 1 us\n", 1, "expected");
	refuse(read_memory, "link_in 0 MB/s\n", 1, rate);
	refuse(read_memory, "link_in 1e-320 MB/s\n", 1, rate);
	refuse(read_memory, "link_in inf MB/s\n", 1, rate);
	refuse(read_memory, "link_out 6000 MiB\n", 1, rate);
	refuse(read_memory, "link_out 1 MB/s\nlink_out 1 MB/s\n", 2, "only once");
	refuse(read_memory, "alloc 100 ms\n", 1, time);
	refuse(read_memory, "alloc 1e7 us\n", 1, time);
	refuse(read_memory, "alloc 1 us\nalloc 1 us\n", 2, "only once");
	refuse(read_memory, "disk 1000 MB/s\n", 1, names);
	refuse(read_memory, "disk_read 1000 us\n", 1, rate);
	refuse(read_memory, "disk_write 0 MB/s\n", 1, rate);
	refuse(read_memory, "disk_latency 1 MB/s\n", 1, time);
	refuse(read_memory, "disk_latency 0 us\ndisk_latency 0 us\n", 2, "only once");
}

int main(void)
{
	good_costs();
	bad_costs();
	good_memory();
	bad_memory();
	return 0;
}
