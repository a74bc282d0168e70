/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notices (see notice.h). */
#include "base/notice.h"

#include <stdlib.h>

#include "base/assert.h"

FILE *orr_notice_open(struct orr_notice *n)
{
	n->text = NULL;
	n->size = 0;
	n->f = open_memstream(&n->text, &n->size);
	if (!n->f)
		n->f = stderr;
	return n->f;
}

void orr_notice_write(struct orr_notice *n)
{
	orr_assert(n->f);
	if (n->f != stderr && !fclose(n->f))
		fwrite(n->text, 1, n->size, stderr);
	free(n->text);
	n->f = NULL;
	fflush(stderr);
}
