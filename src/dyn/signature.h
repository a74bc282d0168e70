/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signatures of the segments between the registry of a real elastic run and its processes (RFC
 * 2385, Linux' TCP_MD5SIG): the system drops the connections of strangers before the registry sees
 * them. Whoever gets in has to say the run's key all the same.
 *
 * Invariant: both ends take the same words for a key. */
#ifndef ORR_DYN_SIGNATURE_H
#define ORR_DYN_SIGNATURE_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

/* The last part of $ORRERY_DYN_SERVER where connections are signed. */
#define ORR_DYN_SIGNED ":signed"

/* Signs what is exchanged with that IPv4 address and those that have its first `prefix` bits, and
 * drops what they do not sign. Before connect() or listen(). 0, or -1 with errno: the system
 * cannot.
 */
static inline int orr_dyn_sign(int fd, struct in_addr address, int prefix, const char *key)
{
	struct tcp_md5sig sig = { .tcpm_flags = TCP_MD5SIG_FLAG_PREFIX,
				  .tcpm_prefixlen = (unsigned char) prefix };
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_addr = address };
	char words[TCP_MD5SIG_MAXKEYLEN];

	memcpy(&sig.tcpm_addr, &there, sizeof(there));
	/* Another text than the one that is said in the clear. */
	sig.tcpm_keylen = (unsigned short) snprintf(words, sizeof(words), "orrery %s", key);
	memcpy(sig.tcpm_key, words, sig.tcpm_keylen);
	return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG_EXT, &sig, sizeof(sig));
}

#endif
