"""System calls that Python has no function for, through ctypes."""
import ctypes
import os
import signal
import struct

# PyDLL and not CDLL: it keeps the GIL over the call, which the raw clone() below depends on.
_libc = ctypes.PyDLL(None, use_errno=True)
_NUMBERS = {
    "x86_64": {"clone": 56, "capset": 126, "close_range": 436},
    "aarch64": {"clone": 220, "capset": 91, "close_range": 436},
}[os.uname().machine]
_libc.syscall.restype = ctypes.c_long

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = NEWUSER | NEWPID | NEWNS | NEWIPC | NEWNET | NEWUTS
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 22, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER, CAP_SYS_ADMIN = 4, 2, 21


def _check(result, what):
    if result == -1:
        errno = ctypes.get_errno()
        raise OSError(errno, f"{what}: {os.strerror(errno)}")
    return result


def mount(source, target, fstype=None, flags=0, data=None):
    _check(_libc.mount(source, target, fstype, ctypes.c_ulong(flags), data), f"mount {target!r}")


def prctl(option, *args):
    padded = (*args, 0, 0, 0, 0)[:4]
    _check(_libc.prctl(option, *(ctypes.c_ulong(a) for a in padded)), f"prctl {option}")


def close_from(fd):
    _check(_libc.syscall(_NUMBERS["close_range"], fd, 0xFFFFFFFF, 0), "close_range")


def capset(mask):
    """Effective = permitted = mask, inheritable = none (version 3 of the interface: two 32-bit halves)."""
    header = struct.pack("Ii", 0x20080522, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    _check(_libc.syscall(_NUMBERS["capset"], header, struct.pack("6I", low, low, 0, high, high, 0)), "capset")


class _SockFprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install_seccomp(program):
    fprog = _SockFprog(len(program) // 8, program)
    _check(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(fprog), 0, 0), "seccomp")


def clone_into_namespaces():
    """fork() whose child starts in new namespaces, pid 1 of its own. 0 in the child.

    os.fork() + unshare() needs a second fork to enter the new pid namespace, and a fork of a warm interpreter is the
    dearest part of a run. The raw call skips two things glibc's fork() does: atfork handlers (this process has one
    thread, so no lock can be held) and refreshing the cached thread id, which stays right because zygote and child
    are both number 1 in their namespace (bwrap --as-pid-1; asserted by the zygote). Python's own hooks run here.
    """
    api = ctypes.pythonapi
    api.PyOS_BeforeFork()
    pid = _libc.syscall(_NUMBERS["clone"], ALL_NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        api.PyOS_AfterFork_Child()
        return 0
    api.PyOS_AfterFork_Parent()
    return _check(pid, "clone")
