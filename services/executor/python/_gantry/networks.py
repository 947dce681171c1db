"""Network namespaces for children.

Creating and destroying one costs 0.8 ms of CPU, a tenth of a run. A namespace that its run has left untouched is therefore
reused: not a packet was sent or received in it, no kernel counter has moved, and its sockets ended with the processes
that held them. A namespace that a run did use is never seen by another.

They belong to a user namespace of the zygote's own, in which no child ever has a capability: none can change
addresses, routes or the state of an interface, nor could it before it was sealed. IPv6 flow labels, which outlive their
socket and are shown by no counter, are denied to runs by seccomp.
"""
import fcntl
import os
import socket
import struct

from . import sealing
from .syscalls import CAP_NET_ADMIN, CAP_SYS_ADMIN, NEWNET, NEWUSER, capset, setns, unshare

COUNTERS = ("/proc/self/net/dev", "/proc/self/net/snmp", "/proc/self/net/snmp6")


class Networks:
    def __init__(self, uid):
        """Call from a process with one thread: it moves into its own user namespace."""
        unshare(NEWUSER)
        sealing.map_user(uid)
        capset(1 << CAP_SYS_ADMIN | 1 << CAP_NET_ADMIN)
        self._untouched = []
        self._fresh = None

    def enter(self):
        """Moves this process into a network namespace for its next child. Returns the descriptor for release()."""
        if self._untouched:
            network = self._untouched.pop()
            setns(network, NEWNET)
            return network
        unshare(NEWNET)
        _bring_loopback_up()
        if self._fresh is None:
            self._fresh = counters()
        return os.open("/proc/self/ns/net", os.O_RDONLY)

    def release(self, network):
        """Releases a network. Call when no process of its run is left."""
        setns(network, NEWNET)
        if counters() == self._fresh:
            self._untouched.append(network)
        else:
            os.close(network)


def _bring_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))    # SIOCSIFFLAGS, IFF_UP|IFF_RUNNING


def counters():
    """Reads the kernel's counters of this network: equal as long as nothing was sent or received."""
    texts = []
    for path in COUNTERS:
        try:
            fd = os.open(path, os.O_RDONLY)
        except FileNotFoundError:                               # a kernel without IPv6
            continue
        texts.append(os.read(fd, 65536))
        os.close(fd)
    return texts
