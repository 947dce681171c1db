"""Zygote of the Python sandbox. Standard library and ctypes only.

Started by the executor inside bubblewrap as pid 1 of its pid namespace, without capabilities, under a non-root uid.
It imports the modules that runs usually need, never sees user code or a secret, and forks a child per command of the host.
A child creates its own namespaces, opens its own three connections to the host, drops everything it does not need,
waits for one run, mounts that run's directories, drops the rest, executes, and exits.

The zygote keeps no_new_privs, the 'zygote' seccomp layer, and two capabilities in a user namespace of its own, which
owns nothing but the networks of its children (networks.py). Otherwise it differs from a child only in that clone(CLONE_NEW*)
and mount() are not filtered: mount() works only for a child that has just become the owner of a new user namespace.

Inside the zygote (laid out by bwrap-args.ts):
  /sandbox/         the root of every child: the system, and /code /deps /tmp, empty directories, mount points
  /host/ctl/s       socket of the host             /host/store/<digest>/   unpacked code and dependency sets
  /host/python/     this file and its modules      /host/{child,warm}.bpf  the 'child' and 'warm' seccomp layers
  /host/egress/s    socket of the egress proxy     /host/empty/            the lower layer of overlays shown to runs
A child makes /sandbox its root and /host its working directory, which it leaves once it has opened what it needs.

The same file serves `isolation: process`: with {"cold": true} it seals itself for one run instead of forking.
"""
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
from time import sleep

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from _gantry import channel, forwarder, harness, logs, sealing, warm  # noqa: E402
from _gantry.networks import Networks  # noqa: E402
from _gantry.syscalls import clone_into_namespaces  # noqa: E402
import gantry  # noqa: E402,F401  (so that user code finds it when this folder is out of sight)

sys.path.remove(HERE)
harness._PATH[:] = sys.path

CTL = channel.CTL
# Time for a host on a busy machine to read why a run could not start.
EXPLAIN_SECONDS = 5


def child_main(nonce, groups, config, runs=None):
    """Runs a child, from clone to the result. Never returns."""
    step = "prepare"
    try:
        sealing.prepare(nonce, groups, config, runs)
        harness.warm_up()
        channel.write_frame(b'{"t": "ready"}')
        # From here on the child waits, possibly for long. The first frame is small and created by the host alone.
        step = "bind"
        spec = channel.read_json()
        sealing.bind_run(spec, config)
        sealing.seal(config, is_warm=runs is not None)
        if runs is None:
            sealing.limit_cpu(spec["cpuSeconds"])
        step = "run"
        os.setpriority(os.PRIO_PROCESS, 0, 10)                  # sealing has priority over other runs, user code does not
        job = channel.read_json()                               # inputs are parsed only now, without privileges
        if runs is not None:
            warm.serve(job)
        harness.serve_one(job)
        sleep(harness.LINGER_SECONDS)
    except BaseException as error:                              # not of user code: those are results
        explain(step, error)
    os._exit(0)


def explain(step, error):
    """Reports to the host why the run could not start, and discards what the host sends until it hangs up."""
    try:
        channel.write_json({"t": "broken", "step": step, "error": f"{type(error).__name__}: {error}"[:2000]})
        os.closerange(0, CTL)                                   # the logs end
        channel.wait_for_hang_up(EXPLAIN_SECONDS)
    except OSError:
        pass
    os._exit(70)


def cold_main(config):
    """Serves `isolation: process`: one run on descriptor 3, then exit. This process never forks another one."""
    step = "prepare"
    try:
        os.closerange(4, 256)                                   # bwrap's own descriptors
        os.set_inheritable(CTL, False)
        sealing.prepare_cold(config)
        step = "bind"
        spec = channel.read_json()
        sealing.bind_run(spec, config)
        sealing.seal(config)
        sealing.limit_cpu(spec["cpuSeconds"])
        step = "run"
        os.setpriority(os.PRIO_PROCESS, 0, 10)
        harness.serve_one(channel.read_json())
    except BaseException as error:
        explain(step, error)
    os._exit(0)


class Zygote:
    """Forks and kills on command, reports exits. Each fork makes the zygote copy again the pages that it writes, 160 of them
    with JSON in both directions: hence the short text commands."""

    def __init__(self, config):
        self.config = config
        self.poller = select.poll()
        self.poller.register(CTL, select.POLLIN)
        self.networks = Networks(config["uid"])
        self.children = {}                                      # pidfd -> (id, pid, network)
        self.pidfds = {}                                        # id -> pidfd
        self.warm = {}                                          # id -> socket that passes the connections of its runs

    def serve(self):
        buffer = b""
        while True:
            for fd, _ in self.poller.poll():
                if fd in self.children:                         # readable pidfd: that child has exited
                    self.reap(fd)
                    continue
                chunk = os.read(CTL, 65536)
                if not chunk:
                    os._exit(0)                                 # the host exited; the kernel ends every child of pid 1
                buffer += chunk
                while len(buffer) >= 4 and len(buffer) >= 4 + (size := struct.unpack(">I", buffer[:4])[0]):
                    verb, child_id, *more = buffer[4:4 + size].split()
                    buffer = buffer[4 + size:]
                    if verb == b"fork":
                        self.fork(child_id, *more)
                    elif verb == b"warm":
                        self.fork_warm(child_id, *more)
                    elif verb == b"connect":
                        self.connect(child_id, *more)
                    elif verb == b"kill":
                        self.kill(child_id)

    def fork_warm(self, child_id, nonce, *groups):
        """Forks a child that becomes a warm sandbox."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self.warm[child_id] = ours
        self.fork(child_id, nonce, *groups, runs=theirs.fileno())
        theirs.close()

    def connect(self, child_id, nonce):
        """Opens the connections of the next run of a warm sandbox, which forks it with them. The sandbox has no access
        to the host of its own: it has imported user code."""
        connections = []
        try:
            for role in (b"c", b"o", b"e"):
                connections.append(sealing.connect_to_host("/host/ctl/s", role, nonce))
            socket.send_fds(self.warm[child_id], [b"r"], [connection.fileno() for connection in connections])
        except (OSError, KeyError):
            self.kill(child_id)
        for connection in connections:
            connection.close()

    def fork(self, child_id, nonce, *groups, runs=None):
        network = None
        try:
            network = self.networks.enter()
            pid = clone_into_namespaces()
        except OSError as error:
            if network is not None:
                os.close(network)
            self.warm.pop(child_id, None)
            return channel.write_json({"t": "exit", "id": child_id.decode(), "status": 71, "error": str(error)})
        if pid == 0:
            child_main(nonce, groups, self.config, runs)
        pidfd = os.pidfd_open(pid)                              # a handle that cannot refer to a reused pid
        self.children[pidfd] = (child_id, pid, network)
        self.pidfds[child_id] = pidfd
        self.poller.register(pidfd, select.POLLIN)
        channel.write_frame(b'{"t": "forked", "id": "%b", "pid": %d}' % (child_id, pid))

    def kill(self, child_id):
        if child_id not in self.pidfds:
            return
        try:                                                    # pid 1 of the run: the kernel kills its whole namespace
            signal.pidfd_send_signal(self.pidfds[child_id], signal.SIGKILL)
        except ProcessLookupError:
            pass

    def reap(self, pidfd):
        child_id, pid, network = self.children.pop(pidfd)
        _, status, usage = os.wait4(pid, 0)
        self.networks.release(network)
        self.poller.unregister(pidfd)
        os.close(pidfd)
        del self.pidfds[child_id]
        if child_id in self.warm:
            self.warm.pop(child_id).close()
        channel.write_frame(b'{"t": "exit", "id": "%b", "status": %d, "cpuMs": %.3f, "maxRssKb": %d}' % (
            child_id, os.waitstatus_to_exitcode(status), (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss))


def main():
    config = json.loads(sys.argv[1])
    for layer in ("child", "warm"):
        with open(f"/host/{layer}.bpf", "rb") as file:
            config[layer + "Filter"] = file.read()
    with open("/proc/sys/kernel/cap_last_cap") as file:
        config["lastCap"] = int(file.read())
    logs.install()
    os.environ.update(forwarder.ENVIRONMENT)
    sys.stdout.reconfigure(line_buffering=True)
    if config.get("cold"):
        return cold_main(config)
    if os.getpid() != 1:
        sys.exit("the zygote must be pid 1 of its namespace: bwrap --as-pid-1")
    first, count = config["inherited"]["first"], config["inherited"]["count"]
    os.closerange(4, first)                                     # bwrap's own descriptors, and those above as well
    os.closerange(first + count, first + count + 256)
    os.set_inheritable(CTL, False)
    for name in config["preload"]:
        __import__(name)
    sys.modules["ssl"].RAND_bytes(1)                            # initialise OpenSSL's generator here: saves children 1 ms
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.collect()
    gc.freeze()                                                 # keep the collector from writing to shared pages
    channel.write_json({"t": "up"})
    Zygote(config).serve()


if __name__ == "__main__":
    main()
