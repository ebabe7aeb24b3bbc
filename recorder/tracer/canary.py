"""Proves end to end, before a run may start, that what happens comes out of the ring.

A child does one of each: executes a program, writes and renames a file, connects to a closed port. Its frames must then be
in the ring, with a token that nobody can have written before.
"""

import os
import secrets
import struct
import subprocess
import tempfile
import time

SECONDS_MAX = 20
HEADER = struct.Struct("<IHHIHHQQIIQQq")
MAGIC = 0x31584242
EXEC, OPEN, IO, RENAME, CONNECT, EXIT = 16, 32, 34, 35, 64, 19
DISCARD_PORT = 9

# Runs in a child, because the tracer's own process is not traced.
CHILD = """
import os, socket, sys
path = sys.argv[1]
with open(path, "w") as file:
    file.write("canary")
os.rename(path, path + "-renamed")
os.unlink(path + "-renamed")
try:
    socket.create_connection(("127.0.0.1", %d), 1)
except OSError:
    pass
""" % DISCARD_PORT


def frames(octets):
    """(type, pid, payload) of each ring record."""
    at = 0
    while at + 8 <= len(octets):
        length = struct.unpack_from("<I", octets, at)[0] & 0x3FFFFFFF
        payload = octets[at + 8 : at + 8 + length]
        if len(payload) >= HEADER.size:
            fields = HEADER.unpack_from(payload, 0)
            if fields[0] == MAGIC:
                yield fields[2], fields[8], payload
        at += (8 + length + 7) & ~7


def check(ring):
    """Returns which kinds were seen; raises when one was not."""
    token = "canary-" + secrets.token_hex(8)
    ring.take()
    with tempfile.TemporaryDirectory(dir="/run") as directory:
        child = subprocess.Popen(["/usr/bin/python3", "-I", "-S", "-c", CHILD, os.path.join(directory, token)])
        child.wait(SECONDS_MAX)
    seen, end = {}, time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        for kind, pid, payload in frames(ring.take()):
            if pid == child.pid:
                note(seen, kind, token.encode() in payload)
        if all(seen.get(name) for name in ("exec", "open", "io", "rename", "connect", "exit")):
            return seen
        time.sleep(0.02)
    raise RuntimeError(f"the canary was not seen whole within {SECONDS_MAX} s, only {sorted(seen)}")


def note(seen, kind, has_token):
    named = {EXEC: "exec", OPEN: "open", IO: "io", RENAME: "rename"}.get(kind)
    if named and has_token:
        seen[named] = True
    elif kind == CONNECT:
        seen["connect"] = True
    elif kind == EXIT:
        seen["exit"] = True
