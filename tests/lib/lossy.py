# SPDX-License-Identifier: LGPL-2.1-or-later
#
# lossy.py A B PERCENT: joins two network interfaces as a cable would, but loses so many of the packets
# at random; PERCENT is udp: loses all of UDP and nothing else, as a firewall does. It says when it loses
# the first one. For kernels that have no netem (lib/hosts.sh).
# Invariant: a packet that is not lost arrives as it was sent, with what the kernel left to be done to it
# (checksums, segments), which the header of PACKET_VNET_HDR says.
import random
import select
import socket
import sys

SOL_PACKET, PACKET_IGNORE_OUTGOING, PACKET_VNET_HDR = 263, 23, 15
ETH_P_ALL = 3
ETHERNET = 10  # behind the header of the kernel
IP = ETHERNET + 14
UDP = 17


def end(name):
    """A socket at an interface."""
    ours = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    ours.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    ours.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    ours.bind((name, 0))
    return ours


def is_udp(packet):
    kind = packet[ETHERNET + 12:IP]
    return (kind == b"\x08\x00" and packet[IP + 9] == UDP) or (kind == b"\x86\xdd" and packet[IP + 6] == UDP)


def main(a, b, percent):
    ends = (end(a), end(b))
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    loses = is_udp if percent == "udp" else lambda packet: random.random() < float(percent) / 100
    lost = False
    print("joined", flush=True)
    while True:
        for ready in select.select(ends, [], [])[0]:
            packet = ready.recv(1 << 17)
            if loses(packet):
                if not lost:
                    print("lost", flush=True)
                lost = True
                continue
            try:
                other[ready].send(packet)
            except OSError:
                pass  # a queue is full: lost, too


main(*sys.argv[1:])
