"""Runs as user code and tries to escape, or to reach other runs. run() returns [name, held, observation] for each attempt."""
import ctypes
import errno
import json
import os
import resource
import socket
import stat
import struct
import subprocess
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
TMP_AT_START, FDS_AT_START, STATUS = [], {}, {}
CHECKS = []


def observe_start():
    TMP_AT_START.extend(os.listdir("/tmp"))
    for fd in sorted(os.listdir("/proc/self/fd"), key=int):
        if os.path.lexists("/proc/self/fd/" + fd):
            FDS_AT_START[fd] = os.readlink("/proc/self/fd/" + fd)
    for line in open("/proc/self/status"):
        key, _, value = line.partition(":")
        STATUS[key] = value.strip()


def check(name):
    def register(function):
        CHECKS.append((name, function))
        return function
    return register


def syscall(*args):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return result, errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))


def refused(calls):
    seen = {name: syscall(*args) for name, args in calls.items()}
    bad = {name: got for name, got in seen.items() if got[0] != -1 or got[1] not in ("EPERM", "ENOSYS", "EAFNOSUPPORT")}
    return not bad, bad or ",".join(f"{name}:{got[1]}" for name, got in seen.items())


def find_error(function):
    try:
        function()
        return None
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    except Exception as error:
        return type(error).__name__


def read(path):
    """Reads a file; empty if it is hidden from this process, like those of pid 1 of a warm sandbox."""
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except (PermissionError, FileNotFoundError):
        return ""


def listed(folder):
    try:
        return os.listdir(folder)
    except (PermissionError, FileNotFoundError):
        return []


def linked(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def unix_error(address):
    return find_error(lambda: socket.socket(socket.AF_UNIX).connect(address))


def tcp_error(host, port):
    return find_error(lambda: socket.create_connection((host, port), 1).close())


# --- identity ---

@check("holds no capability in any set")
def _(i):
    sets = {name: STATUS[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    return all(int(value, 16) == 0 for value in sets.values()), sets


@check("runs under seccomp filters that can't be lifted")
def _(i):
    filters = int(STATUS["Seccomp_filters"])
    return STATUS["Seccomp"] == "2" and filters >= i["filters"] and libc.prctl(22, 0, 0, 0, 0) == -1, filters


@check("can't gain privileges by exec")
def _(i):
    return STATUS["NoNewPrivs"] == "1", STATUS["NoNewPrivs"]


@check("is not root, and no other user is mapped")
def _(i):
    mapped = open("/proc/self/uid_map").read().splitlines()
    root_of_machine = os.stat("/usr").st_uid                    # shown as 65534 unless root is mapped here
    return os.getuid() == os.geteuid() == 1000 and len(mapped) == 1 and root_of_machine == 65534, (mapped, root_of_machine)


@check("can't become root")
def _(i):
    seen = find_error(lambda: os.setuid(0))
    return seen in ("EPERM", "EINVAL"), seen


@check("setuid programs gain nothing")
def _(i):
    names = [p for p in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newuidmap", "/usr/bin/sudo")
             if os.path.exists(p) and os.stat(p).st_mode & stat.S_ISUID]
    nosuid = all(os.statvfs(p).f_flag & os.ST_NOSUID for p in names)
    su = subprocess.run(["/usr/bin/su", "root", "-c", "id"], capture_output=True, stdin=subprocess.DEVNULL)
    return nosuid and su.returncode != 0, names


@check("is the first to be killed when memory runs out")
def _(i):
    seen = open("/proc/self/oom_score_adj").read().strip()
    return seen == "1000", seen


@check("does not learn the machine's name")
def _(i):
    return os.uname().nodename == "sandbox", os.uname().nodename


@check("does not see the platform's environment")
def _(i):
    everything = read("/proc/1/environ") + read("/proc/self/environ") + json.dumps(dict(os.environ))
    return i["canary"] not in everything and "NATS" not in everything, sorted(os.environ)


# --- visibility of others ---

@check("sees no process but its own")
def _(i):
    pids = [p for p in os.listdir("/proc") if p.isdigit()]
    return pids == [str(os.getpid())] and os.getppid() in (0, 1), pids


@check("finds no other process to signal")
def _(i):
    seen = find_error(lambda: os.kill(-1, 9))
    return seen == "ESRCH", seen


@check("starts with an empty /tmp, whatever runs beside it")
def _(i):
    return TMP_AT_START == [] and not os.path.exists("/tmp/victim-secret"), TMP_AT_START


@check("sees neither the code of others nor the harness")
def _(i):
    places = ["/host", "/sandbox", "/gantry", "/proc/1/root/host", "/proc/1/cwd/host", "/proc/self/cwd/../../host", "/tmp/../../host"]
    seen = [place for place in places if os.path.exists(place)]
    return seen == [] and os.getcwd() == "/tmp" and os.stat("/..").st_ino == os.stat("/").st_ino, (seen, os.getcwd())


@check("does not learn where on the machine its files are, from mount tables or links")
def _(i):
    pid = os.fork()
    if pid == 0:
        time.sleep(20)
        os._exit(0)
    texts = {}
    for process in ("self", "thread-self", "1", "1/task/1", str(pid)):
        for name in ("mountinfo", "mounts", "mountstats", "maps"):
            if os.path.exists(f"/proc/{process}/{name}"):       # threads have no mountstats
                texts[f"{process}/{name}"] = read(f"/proc/{process}/{name}")
        links = [f"/proc/{process}/{name}" for name in ("exe", "cwd", "root")]
        links += [f"/proc/{process}/fd/{fd}" for fd in listed(f"/proc/{process}/fd")]
        texts[f"{process}/links"] = " ".join(linked(link) for link in links)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    told = {name: path for name, text in texts.items() for path in i["paths"] if path in text}
    return not told and all("/code" in texts["self/" + name] for name in ("mountinfo", "mounts", "mountstats")), told


@check("sees its own files in /code and no more")
def _(i):
    return sorted(os.listdir("/code")) == ["main.py"], os.listdir("/code")


@check("can't uncover what is mounted over")
def _(i):
    return refused({"host": (166, b"/host", 2), "code": (166, b"/code", 2), "tmp": (166, b"/tmp", 2)})


@check("can't reach the control socket of other runs")
def _(i):
    seen = [unix_error("/host/ctl/s"), unix_error(i["socket"])]
    return seen == ["ENOENT", "ENOENT"], seen


@check("holds only its own sockets, and /dev/null as stdin")
def _(i):
    own = {fd: name for fd, name in FDS_AT_START.items() if not name.startswith("/proc")}
    sockets = all(own.get(fd, "").startswith(("socket:", "pipe:")) for fd in "123")
    return own.get("0") == "/dev/null" and sockets and len(own) == 4, FDS_AT_START


@check("does not hand the control channel to programs it starts")
def _(i):
    listing = subprocess.run(["/usr/bin/ls", "-l", "/proc/self/fd"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    control = os.readlink("/proc/self/fd/3")
    return control not in listing.stdout, listing.stdout


@check("can't see abstract UNIX sockets of the machine or of other runs")
def _(i):
    seen = [unix_error("\0" + i["hostAbstract"]), unix_error("\0victim")]
    return seen == ["ECONNREFUSED", "ECONNREFUSED"], seen


@check("shares no System V memory with other runs")
def _(i):
    seen = syscall(29, 0x5EC2E7, 4096, 0)
    return seen[1] in ("ENOENT", "EPERM"), seen


# --- kernel interfaces ---

@check("can't make namespaces")
def _(i):
    return refused({"unshare user": (272, 0x10000000), "unshare mnt": (272, 0x20000), "unshare pid": (272, 0x20000000),
                    "setns": (308, 0, 0), "clone user": (56, 0x10000011, 0, 0, 0, 0), "clone3": (435, 0, 0)})


@check("can't mount")
def _(i):
    return refused({"mount": (165, b"x", b"/tmp", b"tmpfs", 0, 0), "pivot_root": (155, b"/", b"/tmp"), "chroot": (161, b"/tmp"),
                    "open_tree": (428, -100, b"/", 1), "move_mount": (429, 0, b"", 0, b"", 0), "fsopen": (430, b"tmpfs", 0),
                    "mount_setattr": (442, -100, b"/", 0, 0, 0)})


@check("can't trace or read other processes")
def _(i):
    return refused({"ptrace": (101, 0, 0, 0, 0), "process_vm_readv": (310, 1, 0, 0, 0, 0, 0), "kcmp": (312, 1, 1, 0, 0, 0),
                    "pidfd_getfd": (438, 0, 0, 0)})


@check("can't use keyrings, bpf, io_uring, userfaultfd or perf")
def _(i):
    return refused({"keyctl": (250, 0, 0), "add_key": (248, 0, 0, 0, 0, 0), "bpf": (321, 0, 0, 0), "io_uring": (425, 1, 0),
                    "userfaultfd": (323, 0), "perf": (298, 0, 0, 0, 0, 0)})


@check("can't open files by handle, load modules, reboot or set the clock")
def _(i):
    return refused({"name_to_handle": (303, 0, 0, 0, 0, 0), "open_by_handle": (304, 0, 0, 0), "init_module": (175, 0, 0, 0),
                    "kexec": (246, 0, 0, 0, 0), "reboot": (169, 0, 0, 0, 0), "settime": (227, 0, 0), "syslog": (103, 3, 0, 0)})


@check("can't open netlink, packet, vsock, alg or raw sockets")
def _(i):
    held, seen = refused({"netlink": (41, 16, 3, 0), "packet": (41, 17, 3, 0), "vsock": (41, 40, 1, 0), "alg": (41, 38, 5, 0)})
    raw = find_error(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
    return held and raw in ("EPERM", "EACCES"), (seen, raw)


@check("can't create socket pairs of families that it can't open")
def _(i):
    pair = ctypes.create_string_buffer(8)
    refused_families = {str(family): (53, family, 1, 0, pair) for family in (16, 17, 30, 38, 40, 44)}
    held, seen = refused(refused_families)
    for a in socket.socketpair():
        a.close()
    return held, seen


@check("can't take leases on files that others use, nor watch them")
def _(i):
    import fcntl
    import sys
    seen = {}
    for path in ("/code/main.py", "/code", "/etc/passwd", sys.executable, "/usr/bin"):
        fd = os.open(path, os.O_RDONLY)
        for name, command, argument in (("lease", 1024, 0), ("lease", 1024, 1), ("notify", 1026, 2)):
            seen[f"{name} {argument} {path}"] = find_error(lambda: fcntl.fcntl(fd, command, argument))
        os.close(fd)
    held, calls = refused({"inotify_init": (253,), "inotify_init1": (294, 0), "inotify_add_watch": (254, 0, b"/code", 2),
                           "fanotify_init": (300, 0, 0), "fanotify_mark": (301, 0, 1, 0, 0, b"/code")})
    return held and set(seen.values()) == {"EPERM"}, (seen, calls)


@check("can't change mode, owner, times or attributes of shared files")
def _(i):
    import sys
    places = [path for path in ("/code/main.py", "/code", "/deps", "/etc/passwd", sys.executable) if os.path.exists(path)]
    seen = {}
    for path in places:
        seen["chmod " + path] = find_error(lambda: os.chmod(path, 0o777))
        seen["chown " + path] = find_error(lambda: os.chown(path, 1000, 1000))
        seen["utime " + path] = find_error(lambda: os.utime(path))
        seen["xattr " + path] = find_error(lambda: os.setxattr(path, "user.x", b"1"))
        seen["rename " + path] = find_error(lambda: os.rename(path, path + "2"))
    return all(seen.values()), seen


@check("can't leave flow labels in a network that another run may get")
def _(i):
    if not os.path.exists("/proc/net/if_inet6"):
        return True, "no IPv6"
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        # struct in6_flowlabel_req: ::1, label 0 (any), IPV6_FL_A_GET, IPV6_FL_S_ANY, IPV6_FL_F_CREATE, expires, linger
        request = socket.inet_pton(socket.AF_INET6, "::1") + struct.pack("!I", 0) + struct.pack("=BBHHHI", 0, 255, 1, 100, 100, 0)
        seen = find_error(lambda: sock.setsockopt(41, 32, request))
        sock.setsockopt(41, 26, 1)                              # IPV6_V6ONLY: other options work
    return seen == "EPERM", seen


@check("can't make device nodes, and has only harmless ones")
def _(i):
    made = find_error(lambda: os.mknod("/tmp/n", 0o600 | stat.S_IFCHR, os.makedev(1, 1)))
    return made == "EPERM" and not any(os.path.exists("/dev/" + d) for d in ("mem", "kmsg", "fuse", "kvm", "vda", "net")), made


@check("can't write sysctls, sysrq, or its own score and maps")
def _(i):
    places = ("/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces",
              "/proc/sysrq-trigger", "/proc/self/uid_map", "/proc/self/oom_score_adj")
    seen = {p: find_error(lambda: os.write(os.open(p, os.O_WRONLY), b"1")) for p in places}
    return all(seen.values()), seen


# --- files ---

@check("can write only to /tmp and /dev/shm")
def _(i):
    places = ["/x", "/usr/x", "/etc/x", "/code/x", "/deps/x", "/host/x", "/dev/x", "/proc/x", "/usr/lib/x",
              "/code/main.py", "/etc/passwd", "/usr/bin/python3"]
    seen = {p: find_error(lambda: open(p, "a")) for p in places}
    return all(seen.values()), seen


@check("sees none of /sys, /run, /var, /home, /root and the machine's /etc")
def _(i):
    absent = not any(map(os.path.exists, ("/sys", "/run", "/var", "/home", "/root", "/etc/shadow", "/etc/hostname")))
    return absent and "root:" not in open("/etc/passwd").read(), os.listdir("/")


@check("fills /tmp only up to its cap")
def _(i):
    wrote, why = 0, None
    for n in range(40):
        try:
            with open(f"/tmp/f{n}", "wb") as file:
                wrote += file.write(bytes(4 << 20))
        except OSError as error:
            why = errno.errorcode[error.errno]
            break
    for n in range(40):
        if os.path.exists(f"/tmp/f{n}"):
            os.unlink(f"/tmp/f{n}")
    return why == "ENOSPC" and wrote <= 64 << 20, f"{why} after {wrote >> 20} MiB"


@check("can't hoard files beyond the inodes of /tmp")
def _(i):
    count, why = 0, None
    os.mkdir("/tmp/many")
    try:
        for count in range(20_000):
            open(f"/tmp/many/{count}", "w").close()
    except OSError as error:
        why = errno.errorcode[error.errno]
    for name in os.listdir("/tmp/many"):
        os.unlink("/tmp/many/" + name)
    os.rmdir("/tmp/many")
    return why == "ENOSPC", f"{why} after {count}"


# --- limits ---

@check("can't raise its limits")
def _(i):
    names = ("DATA", "NPROC", "FSIZE", "NOFILE", "CPU", "CORE")
    seen = {n: find_error(lambda: resource.setrlimit(getattr(resource, "RLIMIT_" + n), (resource.RLIM_INFINITY,) * 2)) for n in names}
    return all(seen.values()), seen


@check("is refused memory beyond its limit")
def _(i):
    seen = find_error(lambda: bytearray(1 << 30))
    return seen == "MemoryError", seen


@check("is refused processes beyond its limit")
def _(i):
    pids, why = [], None
    try:
        for _ in range(100):
            pid = os.fork()
            if not pid:
                time.sleep(20)
                os._exit(0)
            pids.append(pid)
    except OSError as error:
        why = errno.errorcode[error.errno]
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return why == "EAGAIN" and len(pids) < 40, f"{why} after {len(pids)}"


@check("is refused descriptors beyond its limit")
def _(i):
    opened, why = [], None
    try:
        while len(opened) < 5_000:
            opened.append(os.open("/dev/null", 0))
    except OSError as error:
        why = errno.errorcode[error.errno]
    for fd in opened:
        os.close(fd)
    return why == "EMFILE" and len(opened) < 256, f"{why} after {len(opened)}"


# --- network ---

@check("has no route out and no interface but loopback")
def _(i):
    seen = [tcp_error("1.1.1.1", 53), tcp_error("169.254.169.254", 80)]
    interfaces = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
    return seen == ["ENETUNREACH", "ENETUNREACH"] and interfaces == ["lo"], (seen, interfaces)


@check("can't change its network")
def _(_):
    import fcntl
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        down = find_error(lambda: fcntl.ioctl(sock, 0x8914, struct.pack("16sh14x", b"lo", 0)))
        address = find_error(lambda: fcntl.ioctl(sock, 0x8916, struct.pack("16sH2x4s8x", b"lo", 2, bytes((10, 0, 0, 1)))))
    return (down, address) == ("EPERM", "EPERM"), (down, address)


@check("has its own loopback, which is not the machine's")
def _(i):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    socket.create_connection(listener.getsockname(), 1).close()
    seen = tcp_error("127.0.0.1", i["hostPort"])
    return seen == "ECONNREFUSED", seen


@check("can't change the limits of another process of its user, nor raise its own")
def _(_):
    parent = os.getpid()
    code = f"import resource; resource.prlimit({parent}, resource.RLIMIT_NOFILE, (3, 3))"
    child = subprocess.run(["/usr/bin/env", "python3", "-c", code], capture_output=True, text=True)
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, own)
    raised = find_error(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (own[1] + 1, own[1] + 1)))
    return "PermissionError" in child.stderr and raised is not None, (child.stderr[-200:], raised)


@check("sees no path of the machine in its list of sockets")
def _(i):
    seen = open("/proc/net/unix").read()
    return "ctl" not in seen and not any(path in seen for path in i["paths"]), seen


@check("has no path to the egress proxy when it has no network")
def _(i):
    seen = unix_error("/egress/s")
    return seen == "ENOENT" and "HTTPS_PROXY" not in os.environ, seen


def run(**inputs):
    observe_start()
    rows = []
    for name, function in CHECKS:
        try:
            held, seen = function(inputs)
        except Exception as error:
            held, seen = False, f"{type(error).__name__}: {error}"
        rows.append([name, bool(held), str(seen)[:300]])
    return rows
