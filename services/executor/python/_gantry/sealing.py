"""A child from clone to user code. The order of the steps is the result of many failures; each says why it is there.

What a child is when it runs user code: pid 1 of its own pid namespace, in its own user, mount, ipc, net and uts
namespaces, without capabilities, under two seccomp filters, seeing /code and /deps of its run and a /tmp of its own.

Its root is /sandbox of what bubblewrap made (bwrap-args.ts). Until the run is known, its working directory is /host, beside
that root: the one way to the host's sockets and to the store, gone with the first chdir(). /proc/self/mountinfo lists only
what lies below the root.
"""
import os
import re
import resource
import signal
import sys
import _socket                              # without the conveniences of socket.socket, whose code is 30 more pages to copy

from . import channel, forwarder
from .syscalls import (CAP_SYS_ADMIN, MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY, MS_REMOUNT, NEWNS, NEWUSER,
                       PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS,
                       PR_SET_PDEATHSIG, capset, close_from, install_seccomp, mount, prctl, unshare)

DIGEST = re.compile(r"\A[0-9a-f]{64}\Z")
CONTEXT_NAME = re.compile(r"\A[a-z0-9][a-z0-9-]{0,63}\Z")


def open_channel(role, nonce, fd):
    """One connection to the host. Its first bytes say which child this is (a nonce made by the host, good for one
    connection per role) and what the connection is for; afterwards it is a plain stream, moved to descriptor `fd`."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect("ctl/s")
    connection.sendall(role + nonce)
    raw = connection.detach()
    if raw != fd:
        os.dup2(raw, fd, inheritable=fd < 3)
        os.close(raw)


def write_file(path, text):
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, text)
    os.close(fd)


def enter_root():
    """/sandbox as root and /host as working directory. Not before the last user namespace: the kernel makes none for a
    process whose root is not that of its mounts."""
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
    """Soft and hard alike, so that nothing can be raised again."""
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))


def prepare(nonce, groups, config):
    """First half: all that does not depend on which run this child will get."""
    # 0. Into the cgroups, through descriptors that the host has opened: first of all, so that all memory counts.
    for group in groups:
        os.write(int(group), b"0")
    # 1. Drop every inherited descriptor: the zygote's channel, and the pidfds of sibling runs.
    close_from(3)
    # 2. Its root, and own channels. Descriptor 3 is not inheritable, 0 stays /dev/null.
    enter_root()
    open_channel(b"c", nonce, channel.CTL)
    open_channel(b"o", nonce, 1)
    open_channel(b"e", nonce, 2)
    # 3. Become somebody in the new user namespace (until then files cannot be created: EOVERFLOW). Not root.
    map_user(config["uid"])
    # 4. First victim when memory runs out. Before the next step, after which /proc is read-only for good.
    write_file("/proc/self/oom_score_adj", b"1000")
    # 5. Mounts. A read-only /proc also means: no sysctls, no lowering of oom_score_adj.
    mount(b"proc", b"/proc", b"proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    furnish(config)


def prepare_cold(config):
    """The same for a process that bubblewrap has started for one run: it has a channel and its process namespace already."""
    unshare(NEWUSER | NEWNS)
    enter_root()
    map_user(config["uid"])
    write_file("/proc/self/oom_score_adj", b"1000")
    mount(None, b"/proc", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    furnish(config)


def furnish(config):
    mount_tmp(0, config, config["tmpBytes"])
    mount(b"/tmp", b"/dev/shm", None, MS_BIND)                  # one size cap for both
    # 6. The network (see networks.py) has nothing but loopback, where the forwarder to the egress proxy may listen.
    forwarder.listen()
    # 7. Nothing can be gained back: bounding and ambient sets empty, no_new_privs; keep one capability for bind_run().
    for capability in range(config["lastCap"] + 1):
        prctl(PR_CAPBSET_DROP, capability)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    capset(1 << CAP_SYS_ADMIN)
    # 8. Limits that are the same for every run.
    set_limits(config["limits"])
    # 9. Nothing random may be shared with siblings. uuid4 and secrets ask the kernel; `random` would reseed itself in a
    #    hook that the raw clone() does not run. OpenSSL notices a fork by comparing pids, and zygote and child are both
    #    pid 1: without RAND_add every run draws the same TLS randoms (measured). Preload nothing else that has a generator
    #    of its own (numpy, cryptography).
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "ssl" in sys.modules:
        sys.modules["ssl"].RAND_add(os.urandom(48), 48.0)


def bind_run(spec, config):
    """Second half, when the run is known but none of its data has been looked at: show what it may see, leave the rest."""
    for name, target in (("code", "/code"), ("deps", "/deps")):
        if spec.get(name) is not None:
            show(spec[name], target)
    if spec["egress"]:                                          # without it there is no path to the proxy at all
        forwarder.lead_to(os.open("egress/s", os.O_PATH))
    else:
        forwarder.close()
    if spec["tmpBytes"] != config["tmpBytes"]:
        mount_tmp(MS_REMOUNT, config, spec["tmpBytes"])
    # After the remount, and on /tmp: it is the one place where mount points can be made. Of their files nothing is looked
    # at here; a writeable one is copied by the harness, when there is nothing left to lose.
    for context in spec.get("contexts", ()):
        if not CONTEXT_NAME.match(context["name"]):
            raise ValueError("bad context")
        target = os.path.join("/tmp/.contexts" if context["writeable"] else "/tmp/contexts", context["name"])
        os.makedirs(target)
        show(context["digest"], target)
    os.chdir("/tmp")                                            # no store, no sockets, no harness
    set_limits(spec["limits"])


def show(digest, target):
    """A directory of the store, read-only. As an overlay of one layer it has inodes of its own, so that locks and the like on
    it are no other run's business, and its place in the store stays unsaid. Kernels before 5.11 make none for ordinary users."""
    if not DIGEST.match(digest):
        raise ValueError("bad digest")
    source = b"store/" + digest.encode()
    try:
        mount(b"overlay", target.encode(), b"overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, b"lowerdir=" + source + b":empty")
    except OSError:
        # Read-only, nosuid and nodev come along from the zygote's mount and are locked in this user namespace.
        mount(source, target.encode(), None, MS_BIND)


def seal(config):
    """Last steps. After this the process has no way to change what it sees. Capabilities and seccomp belong to a thread,
    so no thread may have been started before this point."""
    capset(0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)                     # after capset: a change of credentials would clear it
    install_seccomp(config["childFilter"])


def limit_cpu(seconds):
    """Soft below hard: SIGXCPU tells a time-out from a lack of memory, which is a SIGKILL too."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
