"""Floods one of the ways by which the host hears of a guest, as root in the guest: `floods.py NAME SECONDS COUNT`.

It ends after so many seconds, or so many of what it makes; 0 is no limit. Says `flood: begun` on its standard error, and at
its end `flood: sent N UNIT`, unless that is what it has broken.

Who has taken over the guest's kernel has the supervisor's descriptors, too. The guest that this runs in gives them to it.
"""

import os
import random
import select
import socket
import struct
import sys
import time

CONSOLE, CONTROL, EVENTS = 3, 4, 5
GATEWAY = "10.0.2.2"
CHUNK = 1 << 16
PATH_MAX, NAME_MAX = 4096, 255
BLOCKS_FILE_BYTES = 512 << 20
FRAME_MAGIC, FRAME_EXEC, FRAME_HEADER_BYTES, TLV_ARGV = 0x31584242, 16, 64, 2
ARGUMENT_BYTES = 120 << 10
CONNECTIONS_AT_ONCE, ANSWER_SECONDS = 200, 5


class Flood:
    def __init__(self, seconds, count):
        self.end = time.monotonic() + seconds if seconds else float("inf")
        self.most = count or float("inf")
        self.sent = 0

    def goes_on(self):
        return self.sent < self.most and time.monotonic() < self.end

    def write(self, descriptor, octets):
        """All of them, into what may be non-blocking."""
        view = memoryview(octets)
        while view and self.goes_on():
            try:
                written = os.write(descriptor, view)
            except BlockingIOError:
                time.sleep(0.001)
                continue
            self.sent += written
            view = view[written:]

    def repeat(self, descriptor, octets):
        while self.goes_on():
            self.write(descriptor, octets)
        return "octets"

    def console(self):
        return self.repeat(CONSOLE, os.urandom(CHUNK))

    def output(self):
        octets = os.urandom(CHUNK)
        while self.goes_on():
            self.write(1, octets)
            self.write(2, octets)
        return "octets"

    def tracer(self):
        return self.repeat(EVENTS, os.urandom(1 << 20))

    def frames(self):
        return self.executions(b"x" * ARGUMENT_BYTES)

    def strings(self):
        """Of empty arguments there are most in a frame, and each is an object of the host's."""
        return self.executions(bytes(ARGUMENT_BYTES))

    def executions(self, argument):
        """What looks like the tracer's, each as long as can be and the next in number."""
        tlvs = struct.pack("<HHII", TLV_ARGV, 0, len(argument), len(argument)) + argument
        length = FRAME_HEADER_BYTES + len(tlvs)
        rest = tlvs + bytes(-length % 8)
        number = 1 << 30
        while self.goes_on():
            number += 1
            header = struct.pack("<IHHIHHQQIIQQq", FRAME_MAGIC, 1, FRAME_EXEC, length, 0, 0, number, 1, 7, 7, 1, 1, 0)
            self.write(EVENTS, struct.pack("<II", length, 0) + header + rest)
        return "octets"

    def control(self):
        """Messages as the guest's first process sends them, also of what did not happen; whole in each write."""
        lines = [b'{"type":"pong","id":1}', b'{"type":"clock","id":7}', b'{"type":"synced","ktimeNs":1}', b'{"type":"prepared"}']
        lines.append(b'{"type":"drained","x":"' + b"x" * 1000 + b'"}')
        return self.repeat(CONTROL, (b"\n".join(lines) + b"\n") * 10)

    def protocol(self):
        """A line without end."""
        return self.repeat(CONTROL, b"x" * CHUNK)

    def connections(self):
        """Many at a time: each waits for its answer, and then is reset."""
        ports = [int(port) for port in os.environ["PORTS"].split(",")]
        linger = struct.pack("ii", 1, 0)
        poller, waiting = select.epoll(), {}
        while self.goes_on() or waiting:
            while self.goes_on() and len(waiting) < CONNECTIONS_AT_ONCE:
                sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                sock.connect_ex((GATEWAY, ports[self.sent % len(ports)]))
                waiting[sock.fileno()] = sock
                poller.register(sock, select.EPOLLOUT)
                self.sent += 1
            answered = [fd for fd, _ in poller.poll(ANSWER_SECONDS)]
            for fd in answered or list(waiting):
                waiting.pop(fd).close()
        return "connections"

    def packets(self):
        """Each of a flow of its own."""
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        link.bind(("eth0", 0))
        ethernet = b"\x52\x55\x0a\x00\x02\x02" + link.getsockname()[4] + b"\x08\x00"
        payload = b"x" * 64
        while self.goes_on():
            here, there = struct.pack("!I", 0x0A00020F), struct.pack("!I", random.getrandbits(32))
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(payload), self.sent & 0xFFFF, 0, 64, 17, 0)
            udp = struct.pack("!HHHH", random.getrandbits(16), random.getrandbits(16), 8 + len(payload), 0)
            try:
                link.send(ethernet + ip + here + there + udp + payload)
            except OSError:
                time.sleep(0.001)  # its queue is full
                continue
            self.sent += 1
        return "packets"

    def files(self):
        os.makedirs("/var/tmp/flood")
        while self.goes_on():
            path = f"/var/tmp/flood/{self.sent}"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            except OSError:
                for name in os.listdir("/var/tmp/flood"):
                    os.unlink(f"/var/tmp/flood/{name}")
                continue
            self.sent += 1
        return "files"

    def names(self):
        """As long as a path can be, each another one."""
        folder = "/tmp"
        while len(folder) + 1 + NAME_MAX < PATH_MAX - 1 - NAME_MAX:
            folder += "/" + "n" * NAME_MAX
        os.makedirs(folder)
        rest = PATH_MAX - 1 - len(folder) - 1
        while self.goes_on():
            name = str(self.sent).rjust(min(rest, NAME_MAX), "n")
            path = f"{folder}/{name}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.rename(path, path[:-1] + "~")
            os.unlink(path[:-1] + "~")
            self.sent += 1
        return "files"

    def blocks(self):
        octets = os.urandom(1 << 20)
        file = os.open("/var/tmp/blocks", os.O_CREAT | os.O_WRONLY | os.O_SYNC)
        while self.goes_on():
            self.sent += os.pwrite(file, octets, self.sent % BLOCKS_FILE_BYTES)
        return "octets"


name, seconds, count = sys.argv[1:]
flood = Flood(int(seconds), int(count))
os.write(2, b"\nflood: begun\n")
unit = getattr(flood, name)()
os.write(2, f"\nflood: sent {flood.sent} {unit}\n".encode())
