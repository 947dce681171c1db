"""Runs a command on a terminal of its own: `terminal.py '[["text to wait for", "keys to send"], ...]' command...`."""
import fcntl
import json
import os
import pty
import struct
import sys
import termios

steps, command = json.loads(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    # Of a size that lines fit into: 24 rows of 80 columns.
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(command[0], command)
written, seen = "", 0
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    written += chunk.decode(errors="replace")
    while steps and steps[0][0] in written[seen:]:
        text, keys = steps.pop(0)
        seen = written.index(text, seen) + len(text)
        os.write(terminal, keys.encode())
_, status = os.waitpid(child, 0)
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "written": written}))
