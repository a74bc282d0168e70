/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice among devices: the variable, or the field where it has precedence or the variable is
 * unset; each device once, and only those that exist. */
#include "drivers/choice.h"

#include <errno.h>

#include "lib/test.h"

static struct starpu_conf conf;
static struct orr_process proc = { .conf = &conf };

/* Of n devices these are chosen, at most 4. */
static void chooses(const char *list, const unsigned *field, unsigned n, const char *expected)
{
	const struct orr_choice choice = { .kind = "test",
					   .variable = "LIST",
					   .list = list,
					   .field_name = "field",
					   .field = field };
	unsigned id[4];
	char text[64] = "";
	int k = orr_devices_choose(&proc, &choice, n, id, 4), used = 0;

	CHECK(k >= 0 && k <= 4);
	for (int i = 0; i < k; i++)
		used += snprintf(text + used, sizeof(text) - (size_t) used, "%u ", id[i]);
	CHECK(!strcmp(text, expected), "these are chosen: %s", text);
}

int main(void)
{
	static const unsigned field[8] = { 2, 0, 2, 9 };
	const struct orr_choice bad = { .kind = "test", .variable = "LIST", .list = "0 one" };
	unsigned id[4];

	chooses(NULL, NULL, 0, "");
	chooses(NULL, NULL, 3, "0 1 2 ");
	chooses(NULL, NULL, 6, "0 1 2 3 ");
	chooses("", NULL, 2, "0 1 ");
	chooses("3 1", NULL, 4, "3 1 ");
	chooses("2-", NULL, 4, "2 3 ");
	chooses("1 7 1 0", NULL, 2, "1 0 ");
	chooses(NULL, field, 4, "2 0 ");
	chooses("1", field, 4, "1 ");
	conf.precedence_over_environment_variables = 1;
	chooses("1", field, 4, "2 0 ");
	chooses("1", NULL, 4, "1 ");
	CHECK_IS(orr_devices_choose(&proc, &bad, 4, id, 4), -EINVAL);
	return 0;
}
