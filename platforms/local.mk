# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the clusters and machines, installed as they lie here.
include %D%/sources.mk
nobase_dist_pkgdata_DATA = $(orr_platforms)
