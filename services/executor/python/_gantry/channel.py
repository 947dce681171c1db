"""The control channel: frames of 4 bytes of big-endian length and a body, over descriptor 3.

A body that starts with `{` is a JSON message; one that starts with a zero byte is a chunk of data announced by an earlier
message. stdout and stderr are never control: anything written there is only a log.
"""
import json
import os
import select
import struct
import threading
import time

CTL = 3
CHUNK_BYTES = 256 * 1024 - 64

# User code may log from several threads; frames must not interleave. Created per process: the zygote has one thread,
# so a forked child cannot inherit it locked.
_write_lock = threading.Lock()
# One request to the host at a time: replies arrive in the order of requests.
_request_lock = threading.Lock()


def read_exactly(fd, count):
    parts = bytearray()
    while len(parts) < count:
        piece = os.read(fd, min(count - len(parts), 1 << 20))
        if not piece:
            os._exit(0)                     # the host has exited, or no longer needs this child
        parts += piece
    return bytes(parts)


def read_frame(fd=CTL):
    return read_exactly(fd, struct.unpack(">I", read_exactly(fd, 4))[0])


def read_json():
    return json.loads(read_frame())


def wait_for_hang_up(seconds):
    """Discards what the host still sends, until it hangs up or the time is over."""
    poller = select.poll()
    poller.register(CTL, select.POLLIN)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if poller.poll(left * 1000) and not os.read(CTL, 1 << 16):
            return


def write_frame(body):
    data = memoryview(struct.pack(">I", len(body)) + body)
    with _write_lock:
        while data:
            data = data[os.write(CTL, data):]


def write_json(value):
    write_frame(json.dumps(value).encode())


def write_data(piece):
    write_frame(b"\0" + piece)


def request(body):
    """Sends a request and waits for the host's reply, which may take as long as the run itself."""
    with _request_lock:
        write_frame(body)
        return read_json()


def upload(announcement, pieces):
    """Announces data, and sends it if the host accepts it. Returns (reply, whether it was sent)."""
    with _request_lock:
        write_json(announcement)
        answer = read_json()
        if not answer.get("go"):
            return answer, False
        for piece in pieces:
            write_data(piece)
        return read_json(), True
