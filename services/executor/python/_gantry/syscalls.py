"""Provides system calls without a Python function, through ctypes."""
import ctypes
import os
import signal
import struct

# PyDLL and not CDLL: it keeps the GIL during the call, which the raw clone() below depends on.
_libc = ctypes.PyDLL(None, use_errno=True)
_NUMBERS = {
    "x86_64": {"clone": 56, "capset": 126, "close_range": 436},
    "aarch64": {"clone": 220, "capset": 91, "close_range": 436},
}[os.uname().machine]


def _function(name, *argtypes):
    """Declares a libc function with types: without them each call converts each argument anew."""
    function = _libc[name]                  # [] and not .: a new object each time, since syscall() has many signatures
    function.argtypes, function.restype = argtypes, ctypes.c_long
    return function


_int, _long, _text = ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p
_mount = _function("mount", _text, _text, _text, _long, _text)
_prctl = _function("prctl", _int, _long, _long, _long, _long)
_clone = _function("syscall", _long, _long, _long, _long, _long, _long)
_close_range = _function("syscall", _long, _long, _long, _long)
_capset = _function("syscall", _long, _text, _text)
_unshare = _function("unshare", _int)
_setns = _function("setns", _int, _int)

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
CHILD_NAMESPACES = NEWUSER | NEWPID | NEWNS | NEWIPC | NEWUTS
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
PR_SET_DUMPABLE = 4
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 22, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER, CAP_NET_ADMIN, CAP_SYS_ADMIN = 4, 2, 12, 21


def _check(result, what, about=""):
    if result == -1:
        errno = ctypes.get_errno()
        raise OSError(errno, f"{what} {about}: {os.strerror(errno)}")
    return result


def mount(source, target, fstype=None, flags=0, data=None):
    _check(_mount(source, target, fstype, flags, data), "mount", target)


def prctl(option, first=0):
    _check(_prctl(option, first, 0, 0, 0), "prctl", option)


def close_from(fd):
    _check(_close_range(_NUMBERS["close_range"], fd, 0xFFFFFFFF, 0), "close_range")


def capset(mask):
    """Sets effective = permitted = mask, inheritable = none (version 3 of the interface: two 32-bit halves)."""
    header = struct.pack("Ii", 0x20080522, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    _check(_capset(_NUMBERS["capset"], header, struct.pack("6I", low, low, 0, high, high, 0)), "capset")


def unshare(namespaces):
    _check(_unshare(namespaces), "unshare", hex(namespaces))


def setns(fd, kind):
    _check(_setns(fd, kind), "setns", hex(kind))


class _SockFprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install_seccomp(program):
    fprog = _SockFprog(len(program) // 8, program)
    _check(_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(fprog), 0, 0), "seccomp")


def clone_into_namespaces():
    """Forks a child into new namespaces (all but network), as pid 1 of its own. Returns 0 in the child.

    os.fork() + unshare() needs a second fork to enter the new pid namespace, and forking a warm interpreter is the
    most expensive part of a run. The raw call also skips the fork hooks of glibc and Python, which is safe for a copy of a
    process with one thread: no lock can be held, and process and thread ids stay the same, because zygote and
    child are both number 1 in their namespace (bwrap --as-pid-1; asserted by the zygote). Random state must not stay the
    same: see sealing.py. Python's own hooks (of logging and threading, for locks) would copy 170 pages of the
    zygote, 0.4 ms in each child; they stay registered for user code that forks.
    """
    return _check(_clone(_NUMBERS["clone"], CHILD_NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0), "clone")
