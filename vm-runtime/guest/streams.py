"""The guest's ends of the virtio ports, and the frames that carry the agent's standard streams.

Everything is non-blocking and bounded: a host that does not read stops our reading of the agent's pipes, and so
stops the agent, never this process.
"""

import errno
import fcntl
import json
import os
import struct
import termios

import boot

LINE_BYTES_MAX = 8 << 20  # a start message carries argv and environment, 2 MiB together, in base64
BACKLOG_BYTES_MAX = 256 << 10
CHUNK_BYTES = 32 << 10

STDIN, STDOUT, STDERR = 0, 1, 2
FRAME = struct.Struct("<B3xI")


def pipes():
    """Our ends of three pipes, to the agent's standard input and from its two outputs; and the agent's."""
    stdin, to_agent = os.pipe()
    from_stdout, stdout = os.pipe()
    from_stderr, stderr = os.pipe()
    return (to_agent, from_stdout, from_stderr), (stdin, stdout, stderr)


def terminal(tty):
    """Our ends of a new terminal, to write to and to read from; and the agent's, thrice."""
    ours, agents = os.openpty()
    set_size(ours, tty)
    return (os.dup(ours), ours, None), (agents, agents, agents)


def set_size(fd, tty):
    """The kernel tells the terminal's foreground processes by SIGWINCH."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", tty["rows"], tty["columns"], 0, 0))


class Port:
    """A virtio port with a bounded outgoing backlog."""

    def __init__(self, name):
        self.fd = os.open(f"{boot.PORTS}/{name}", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.backlog = bytearray()

    def full(self):
        return len(self.backlog) >= BACKLOG_BYTES_MAX

    def send(self, data):
        self.backlog += data
        self.flush()

    def flush(self):
        while self.backlog:
            try:
                written = os.write(self.fd, memoryview(self.backlog)[:CHUNK_BYTES])
            except BlockingIOError:
                return
            except OSError as failure:
                if failure.errno == errno.EPIPE:  # the host's end is closed; it may come back
                    return
                raise
            del self.backlog[:written]

    def receive(self):
        """What has arrived; None when nothing has or the host's end is closed."""
        try:
            return os.read(self.fd, CHUNK_BYTES) or None
        except BlockingIOError:
            return None


class Control(Port):
    """JSON lines in both directions."""

    def __init__(self):
        super().__init__("blackbox.control")
        self.partial = bytearray()

    def say(self, message):
        self.send(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def messages(self):
        data = self.receive()
        if data is None:
            return
        self.partial += data
        while (end := self.partial.find(b"\n")) >= 0:
            line = bytes(self.partial[:end])
            del self.partial[: end + 1]
            yield json.loads(line)
        if len(self.partial) > LINE_BYTES_MAX:
            self.partial.clear()
            raise ValueError(f"control line longer than {LINE_BYTES_MAX} bytes")


class Stdio(Port):
    """Frames {u8 stream, 3 zero bytes, u32le length, bytes}; length 0 ends a stream."""

    def __init__(self):
        super().__init__("blackbox.stdio")
        self.partial = bytearray()
        self.stdin = None  # the agent's pipe, from its start until it is closed
        self.started = False
        self.pending = bytearray()  # bytes on their way into it, or waiting for the agent to start
        self.ending = False
        self.terminal = None  # our end of the agent's, if it has one
        self.sources = {}  # our ends of the agent's stdout and stderr: fd → stream

    def attach(self, stdin, stdout, stderr):
        """Without `stderr` the other two are a terminal."""
        self.sources = {stdout: STDOUT} if stderr is None else {stdout: STDOUT, stderr: STDERR}
        self.terminal = stdout if stderr is None else None
        if stderr is None:
            self.send(FRAME.pack(STDERR, 0))
        for fd in (stdin, *self.sources):
            os.set_blocking(fd, False)
        self.stdin = stdin
        self.started = True
        self.push()  # the host may have sent all of it by now

    def pump(self, fd):
        """Moves one chunk from the agent's pipe to the host."""
        try:
            data = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError as failure:
            if failure.errno != errno.EIO:  # a terminal that nobody has open anymore
                raise
            data = b""
        self.send(FRAME.pack(self.sources[fd], len(data)) + data)
        if not data:
            os.close(fd)
            del self.sources[fd]
            self.terminal = None

    def feed(self):
        """Takes frames from the host and gives their bytes to the agent as fast as it reads."""
        if len(self.pending) < BACKLOG_BYTES_MAX and (data := self.receive()) is not None:
            self.partial += data
            while len(self.partial) >= FRAME.size and not self.ending:
                stream, length = FRAME.unpack_from(self.partial)
                if stream != STDIN or length > BACKLOG_BYTES_MAX:
                    raise ValueError(f"stdio frame of stream {stream} with {length} bytes")
                if len(self.partial) < FRAME.size + length:
                    break
                self.pending += self.partial[FRAME.size : FRAME.size + length]
                del self.partial[: FRAME.size + length]
                self.ending = length == 0
                if self.ending and self.terminal is not None:
                    self.pending += b"\x04"  # a terminal has no end of its own: what ctrl-D sends
        self.push()

    def push(self):
        if not self.started:
            return
        if self.stdin is None:
            self.pending.clear()
            return
        try:
            while self.pending:
                del self.pending[: os.write(self.stdin, memoryview(self.pending)[:CHUNK_BYTES])]
        except BlockingIOError:
            return
        except OSError as failure:
            if failure.errno not in (errno.EPIPE, errno.EIO):
                raise
            self.pending.clear()
            self.ending = True
        if self.ending:
            self.close_stdin()

    def resize(self, tty):
        if self.terminal is not None:
            set_size(self.terminal, tty)

    def close_stdin(self):
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None
