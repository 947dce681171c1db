"""Starts the one program that a tool's seccomp filter allows: the one whose name is at a chosen address.

A filter cannot read the name passed to execve(), only its address. The executor chooses a random one for each
tool, where no program started later has memory.
"""
import ctypes
import os

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.execve.argtypes = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p))

PROT_READ_WRITE, MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE = 3, 0x02, 0x20, 0x100000
PAGE_BYTES = 4096


def place(address, path):
    name = os.fsencode(path) + b"\0"
    flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
    if len(name) > PAGE_BYTES or _libc.mmap(address, PAGE_BYTES, PROT_READ_WRITE, flags, -1, 0) != address:
        raise OSError(ctypes.get_errno(), f"cannot place the name of {path}")
    ctypes.memmove(address, name, len(name))


def run(address, arguments):
    """Runs the program placed at the address. Returns its exit status."""
    pid = os.fork()
    if pid == 0:
        try:
            _libc.execve(address, _texts(arguments), _texts(f"{name}={value}" for name, value in os.environ.items()))
        finally:
            os._exit(126)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _texts(values):
    encoded = [os.fsencode(value) for value in values]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
