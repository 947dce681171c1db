"""Seals a child, from clone to user code. The order of the steps matters; each states its reason.

A child that runs user code is pid 1 of its own pid namespace, in its own user, mount, ipc, net and uts
namespaces, without capabilities, under two seccomp filters, and sees /code and /deps of its run and a private /tmp.

Its root is /sandbox of bubblewrap's layout (bwrap-args.ts). Until the run is known, its working directory is /host, outside
that root: the only way to the host's sockets and to the store, gone with the first chdir(). /proc/self/mountinfo lists only
mounts below the root.
"""
import os
import re
import resource
import signal
import sys
import _socket                              # without the conveniences of socket.socket, whose code costs 30 more copied pages

from . import channel, forwarder
from .syscalls import (CAP_SYS_ADMIN, MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY, MS_REMOUNT, NEWNS, NEWUSER,
                       PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS,
                       PR_SET_PDEATHSIG, capset, close_from, install_seccomp, mount, prctl, unshare)

DIGEST = re.compile(r"\A[0-9a-f]{64}\Z")
# The descriptor through which a warm sandbox receives the connections of its runs.
RUNS = 4
CONTEXT_NAME = re.compile(r"\A[a-z0-9][a-z0-9-]{0,63}\Z")


def connect_to_host(path, role, nonce):
    """Opens one connection to the host. Its first bytes identify the child (a nonce created by the host, valid for one
    connection per role) and the purpose of the connection; afterwards it is a plain stream."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(path)
    connection.sendall(role + nonce)
    return connection


def open_channel(role, nonce, fd):
    """Opens a connection to the host as descriptor `fd`."""
    raw = connect_to_host("ctl/s", role, nonce).detach()
    if raw != fd:
        os.dup2(raw, fd, inheritable=fd < 3)
        os.close(raw)


def write_file(path, text):
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, text)
    os.close(fd)


def enter_root():
    """Makes /sandbox the root and /host the working directory. Only after the last user namespace: the kernel creates
    none for a process whose root differs from that of its mounts."""
    os.chdir("/host")
    os.chroot("/sandbox")


def map_user(uid):
    write_file("/proc/self/setgroups", b"deny")
    write_file("/proc/self/uid_map", b"%d %d 1" % (uid, uid))
    write_file("/proc/self/gid_map", b"%d %d 1" % (uid, uid))


def mount_tmp(flags, config, tmp_bytes):
    options = b"mode=1777,size=%d,nr_inodes=%d" % (tmp_bytes, config["tmpInodes"])
    mount(b"tmpfs", b"/tmp", b"tmpfs", MS_NOSUID | MS_NODEV | flags, options)


def set_limits(limits):
    """Sets soft and hard limits alike, so that neither can be raised again."""
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))


def prepare(nonce, groups, config, runs=None):
    """Does the first half: everything that does not depend on the run of this child. `runs`: of a warm sandbox
    (warm.py)."""
    # 0. Into the cgroups, through descriptors opened by the host: before anything else, so that all memory counts.
    for group in groups:
        os.write(int(group), b"0")
    # 1. Drop every inherited descriptor: the zygote's channel, and the pidfds of sibling runs.
    if runs is None:
        close_from(3)
    else:
        os.dup2(runs, RUNS, inheritable=False)
        os.close(channel.CTL)
        close_from(RUNS + 1)
    # 2. Its root, and its own channels. Descriptor 3 is not inheritable, 0 stays /dev/null.
    enter_root()
    open_channel(b"c", nonce, channel.CTL)
    open_channel(b"o", nonce, 1)
    open_channel(b"e", nonce, 2)
    # 3. Map a user in the new user namespace (until then files cannot be created: EOVERFLOW). Not root.
    map_user(config["uid"])
    # 4. First victim when memory runs out. Before the next step, after which /proc is permanently read-only.
    write_file("/proc/self/oom_score_adj", b"1000")
    # 5. Mounts. A read-only /proc also means: no sysctls, no lowering of oom_score_adj.
    #    Runs of a warm sandbox do not see its first process, which reveals how much those before them have used.
    hidden = None if runs is None else b"hidepid=2"
    mount(b"proc", b"/proc", b"proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, hidden)
    furnish(config)


def prepare_cold(config):
    """Prepares a process that bubblewrap has started for one run: it has a channel and its process namespace
    already."""
    unshare(NEWUSER | NEWNS)
    enter_root()
    map_user(config["uid"])
    write_file("/proc/self/oom_score_adj", b"1000")
    mount(None, b"/proc", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    furnish(config)


def furnish(config):
    mount_tmp(0, config, config["tmpBytes"])
    mount(b"/tmp", b"/dev/shm", None, MS_BIND)                  # one size cap for both
    # 6. The network (see networks.py) has only loopback, where the forwarder to the egress proxy may listen.
    forwarder.listen()
    # 7. Nothing can be regained: bounding and ambient sets empty, no_new_privs; keep one capability for bind_run().
    for capability in range(config["lastCap"] + 1):
        prctl(PR_CAPBSET_DROP, capability)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    capset(1 << CAP_SYS_ADMIN)
    # 8. Limits that are the same for every run.
    set_limits(config["limits"])
    # 9. No random state may be shared with siblings.
    seed_generators()


def seed_generators():
    """Seeds random generators. uuid4 and secrets ask the kernel; `random` would reseed itself in a hook that the raw
    clone() does not run. OpenSSL detects a fork by comparing pids, and zygote and child are both pid 1: without
    RAND_add every run draws the same TLS randoms (measured). Only the code of a warm sandbox brings numpy: preload
    nothing else with its own generator."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "ssl" in sys.modules:
        sys.modules["ssl"].RAND_add(os.urandom(48), 48.0)
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


def bind_run(spec, config):
    """Does the second half, when the run is known but none of its data has been read: mounts its directories, leaves
    the rest."""
    for name, target in (("code", "/code"), ("deps", "/deps")):
        if spec.get(name) is not None:
            show(spec[name], target)
    if spec["egress"]:                                          # without it there is no path to the proxy at all
        forwarder.set_proxy(os.open("egress/s", os.O_PATH))
    else:
        forwarder.close()
    if spec["tmpBytes"] != config["tmpBytes"]:
        mount_tmp(MS_REMOUNT, config, spec["tmpBytes"])
    # After the remount, and on /tmp: the only place where mount points can be created. Their files are not read
    # here; the harness copies a writeable context after the last privileges are gone.
    for context in spec.get("contexts", ()):
        if not CONTEXT_NAME.match(context["name"]):
            raise ValueError("bad context")
        target = os.path.join("/tmp/.contexts" if context["writeable"] else "/tmp/contexts", context["name"])
        os.makedirs(target)
        show(context["digest"], target)
    os.chdir("/tmp")                                            # no store, no sockets, no harness
    set_limits(spec["limits"])


def show(digest, target):
    """Mounts a directory of the store read-only. As an overlay of one layer it has its own inodes, so locks on it
    do not affect other runs, and its location in the store stays hidden. Kernels before 5.11 offer no unprivileged overlays."""
    if not DIGEST.match(digest):
        raise ValueError("bad digest")
    source = b"store/" + digest.encode()
    try:
        mount(b"overlay", target.encode(), b"overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, b"lowerdir=" + source + b":empty")
    except OSError:
        # Read-only, nosuid and nodev are inherited from the zygote's mount and locked in this user namespace.
        mount(source, target.encode(), None, MS_BIND)


def seal(config, is_warm=False):
    """Does the last steps. After this the process cannot change its view of the system. Capabilities and seccomp belong
    to a thread, so no thread may have been started before this point."""
    capset(0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)                     # after capset: a change of credentials would clear it
    if is_warm:
        install_seccomp(config["warmFilter"])
    install_seccomp(config["childFilter"])


def limit_cpu(seconds):
    """Sets the soft below the hard limit: SIGXCPU distinguishes a timeout from out of memory, which is a SIGKILL
    too."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
