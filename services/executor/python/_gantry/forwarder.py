"""Forwards 127.0.0.1 in the run's own network to the UNIX socket of the egress proxy: HTTP clients speak TCP only.

One thread and one poll loop. It starts after sealing (capabilities and seccomp belong to a thread) and only for runs
with network; its listening socket is created earlier, while the process waits for its run, and its address is known before
that. It makes no decisions: the proxy outside does, and identifies the run by the nonce sent first on each connection.
"""
import _socket
import _thread
import os
import select
import socket

PROXY = "/egress/s"
BUFFER_BYTES = 65536
PORT = 3128                                 # the conventional port of HTTP proxies
ENVIRONMENT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), f"http://127.0.0.1:{PORT}"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
}
_listener = None


def set_proxy(fd):
    """Uses a descriptor of the proxy's socket where the socket is not visible, for as long as it stays open."""
    global PROXY
    PROXY = f"/proc/self/fd/{fd}"


def listen():
    global _listener
    _listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    _listener.bind(("127.0.0.1", PORT))
    _listener.listen(64)


def stop_listening():
    """Closes the listener for an import ahead of runs, which will listen themselves: nothing accepts connections
    yet."""
    _listener.close()


def close():
    """Removes the proxy for a run without network, in an environment prepared for one with it."""
    if _listener:
        _listener.close()
    for name in ENVIRONMENT:
        del os.environ[name]


def start(nonce):
    """Starts the forwarder. Call after listen()."""
    _thread.start_new_thread(_serve, (_listener.detach(), nonce.encode()))


class _Pipe:
    """One direction of one connection: data that was read and not yet written."""
    __slots__ = ("source", "sink", "pending", "ended")

    def __init__(self, source, sink):
        self.source, self.sink, self.pending, self.ended = source, sink, b"", False


def _serve(listening, nonce):
    poller = select.poll()
    poller.register(listening, select.POLLIN)
    poller.poll()                           # most runs never get beyond this line
    listener = socket.socket(fileno=listening)
    listener.setblocking(False)
    pipes = {}                              # descriptor -> (pipe that reads it, pipe that writes it)

    def interest(sock):
        reads, writes = pipes[sock.fileno()]
        mask = (select.POLLIN if not reads.ended and not reads.pending else 0) | (select.POLLOUT if writes.pending else 0)
        poller.modify(sock, mask)

    def close(*sockets):
        for sock in sockets:
            if pipes.pop(sock.fileno(), None):
                poller.unregister(sock)
            sock.close()

    def accept():
        client, _ = listener.accept()
        proxy = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            proxy.connect(PROXY)
            proxy.sendall(nonce)
        except OSError:
            return close(client, proxy)
        there, back = _Pipe(client, proxy), _Pipe(proxy, client)
        for sock, pair in ((client, (there, back)), (proxy, (back, there))):
            sock.setblocking(False)
            pipes[sock.fileno()] = pair
            poller.register(sock, select.POLLIN)

    def move(fd, events):
        reads, writes = pipes[fd]
        try:
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR) and not reads.pending and not reads.ended:
                reads.pending = reads.source.recv(BUFFER_BYTES)
                if not reads.pending:
                    reads.ended = True
                    reads.sink.shutdown(socket.SHUT_WR)
            for pipe in (reads, writes):
                if pipe.pending:
                    pipe.pending = pipe.pending[pipe.sink.send(pipe.pending):]
        except BlockingIOError:
            pass
        except OSError:
            return close(reads.source, reads.sink)
        if reads.ended and writes.ended:
            return close(reads.source, reads.sink)
        interest(reads.source)
        interest(reads.sink)

    while True:
        for fd, events in poller.poll():
            try:
                if fd == listener.fileno():
                    accept()
                elif fd in pipes:
                    move(fd, events)
            except OSError:
                pass
