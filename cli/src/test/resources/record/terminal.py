"""Runs a command in a terminal of its own: `terminal.py COLUMNS ROWS COMMAND…`. Steps come on standard input, a JSON
line each: {"await": text}, {"type": text}, {"resize": [columns, rows]}. Prints all that the terminal showed, and exits
with the command's code."""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

PATIENCE_S = 240


def resize(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read(fd, seconds):
    """What was shown; None at the end."""
    if not select.select([fd], [], [], seconds)[0]:
        return b""
    try:
        return os.read(fd, 65536) or None
    except OSError:
        return None


steps = [json.loads(line) for line in sys.stdin]
columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    resize(0, columns, rows)
    os.environ["TERM"] = "vt220"
    os.execvp(sys.argv[3], sys.argv[3:])

shown = b""
looked = 0
deadline = time.monotonic() + PATIENCE_S
for step in steps:
    if "type" in step:
        os.write(fd, step["type"].encode())
    elif "resize" in step:
        resize(fd, *step["resize"])
    else:
        wanted = step["await"].encode()
        while shown.find(wanted, looked) < 0:
            more = read(fd, 1)
            if more is None or time.monotonic() > deadline:
                sys.exit(f"{wanted!r} did not come; it showed {shown!r}")
            shown += more
        looked = shown.find(wanted, looked) + len(wanted)
while (more := read(fd, 1)) is not None and time.monotonic() < deadline:
    shown += more
restored = termios.tcgetattr(fd)[3] & (termios.ECHO | termios.ICANON)
os.write(1, shown)
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) if restored else "the terminal was left in raw mode")
