# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the documentation.
include %D%/sources.mk
dist_man_MANS += $(orr_man)
EXTRA_DIST += $(orr_doc)
