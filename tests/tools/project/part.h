/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef __cplusplus
extern "C" {
#endif
int twice(int x);
#ifdef __cplusplus
}
#endif
