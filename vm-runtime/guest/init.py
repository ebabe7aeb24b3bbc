"""Process 1 of the guest: starts the tracer, speaks the control protocol with the host, runs the agent.

The order is the point: the tracer is ready before `ready` is said, the host takes its snapshot after `ready`, and the
agent starts only on the host's `start`. Nothing but this file, the tracer and `tar` runs before the agent.

As process 1 its root is the read-only image. The agent's is a writable overlay over it (agent.py), so that what is executed
or read here is never a file of the agent's.

It can also run as a systemd service (see ../nixos), where somebody else has brought the machine up and, unless the
host's protocol is used, starts the agents once this service is ready.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # isolated mode leaves it out

import base64
import fcntl
import hashlib
import json
import select
import signal
import socket
import struct
import time

import agent as agents
import boot
import clocks
import streams

TRACER = f"{os.path.dirname(sys.path[0])}/tracer/tracer.py"
WORKSPACE = "/workspace"
TRACER_LINE_BYTES_MAX = 1 << 20
DESCRIPTORS = 1024  # the most that a process here can have
BEYOND_KEPT = DESCRIPTORS // 2  # above all numbers that the tracer uses
BLKFLSBUF = 0x1261
RNDADDENTROPY, RNDRESEEDCRNG = 0x40085203, 0x5207
DRAWING_LABEL = b"blackbox random numbers of threads\0"
HOST_GONE_NS_MAX = 10_000_000_000
DISK_AGE_S_MAX = 0.25

FIRST = os.getpid() == 1
STARTED_BY_BOOT = os.environ.get("BLACKBOX_STARTED_BY") == "boot"


def open_disk(path, flags):
    """A workspace disk, or -1 when this machine has none; using it then fails with a message."""
    return os.open(path, flags | os.O_CLOEXEC) if os.path.exists(path) else -1


def notify_systemd():
    """sd_notify(3): units that are ordered after this one start now."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"READY=1", "\0" + address[1:] if address.startswith("@") else address)


class Tracer:
    """The tracer's process; JSON lines on its standard streams. `pid` is None where there is none.

    What it holds open of the BPF program is kept here, too, once it is ready: should it end, no probe is detached, the ring
    goes on to be filled, and another process reads on from where it stopped."""

    def __init__(self, events, agent_cgroup):
        self.pid = None
        self.absent = not os.path.exists(TRACER)
        self.events = events
        self.kept = {}  # descriptor of the tracer → our copy of it
        self.loaded = self.port = None  # which of them it was given by load.py, and which it writes to
        self.succeeded = False
        if not self.absent:
            self._prepare(["--events", events, "--agent-cgroup", str(agent_cgroup)])

    def _prepare(self, arguments):
        """A process that becomes the tracer once it is told to begin."""
        self.partial = bytearray()
        self.heard_all = False  # whether it has closed its output
        to_tracer, self.stdin = os.pipe()
        self.stdout, from_tracer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.read(to_tracer, 1)
                os.dup2(to_tracer, 0)
                os.dup2(from_tracer, 1)
                self._give_kept()
                os.chdir(os.path.dirname(TRACER))
                os.execv(sys.executable or "/usr/bin/python3", ["python3", "-I", "-u", TRACER, *arguments])
            finally:
                os._exit(127)
        os.close(to_tracer)
        os.close(from_tracer)

    def begin(self):
        os.write(self.stdin, b"+")

    def _give_kept(self):
        """In the child: the kept descriptors get the numbers again that they had, and all others are closed."""
        beyond = {number: fcntl.fcntl(copy, fcntl.F_DUPFD, BEYOND_KEPT) for number, copy in self.kept.items()}
        os.closerange(3, BEYOND_KEPT)
        for number, copy in beyond.items():
            os.dup2(copy, number)
        os.closerange(BEYOND_KEPT, DESCRIPTORS)

    def keep(self):
        """Once the tracer is ready."""
        pidfd = os.pidfd_open(self.pid)
        for fd in range(3, DESCRIPTORS):  # a list of them would be read from a folder with its number in the path
            try:
                target = os.readlink(f"/proc/{self.pid}/fd/{fd}")
            except FileNotFoundError:
                continue
            if target.startswith("/memfd:loaded"):
                self.loaded = fd
            elif target == self.events:
                self.port = fd
            elif not target.startswith("anon_inode:bpf"):
                continue
            if fd >= BEYOND_KEPT:
                raise OSError(f"the tracer uses descriptor {fd}")
            self.kept[fd] = boot.pidfd_getfd(pidfd, fd)
        os.close(pidfd)
        if self.loaded is None or self.port is None:
            raise OSError("the tracer does not hold what another one would go on with")

    def succeed(self):
        """Another process takes the place of one that ended; it says `going` when it does. Once: what ends two is not
        going to spare a third."""
        os.close(self.stdin)
        os.close(self.stdout)
        self.pid = None
        if self.succeeded or not self.kept:
            return False
        self.succeeded = True
        self._prepare(["--loaded", str(self.loaded), "--port", str(self.port), "--resume"])
        self.begin()
        return True

    def messages(self):
        data = os.read(self.stdout, 65536)
        if not data:
            raise EOFError("the tracer ended")
        self.partial += data
        while (end := self.partial.find(b"\n")) >= 0:
            line = bytes(self.partial[:end])
            del self.partial[: end + 1]
            yield json.loads(line)
        if len(self.partial) > TRACER_LINE_BYTES_MAX:
            raise ValueError("tracer line too long")

    def say(self, message):
        os.write(self.stdin, json.dumps(message).encode() + b"\n")

    def await_answer(self, kind):
        """The next message of this kind; the tracer says nothing else while it is asked for one."""
        while True:
            for message in self.messages():
                if message.get("type") == kind:
                    return message
                if message.get("type") == "error":
                    raise RuntimeError(f"the tracer: {message.get('what')}")


class DiskKeeper:
    """A process that writes back what programs wrote, several times a second: the host sees only what is on the disk,
    and the kernel would keep it to itself for five seconds and more. One of its own, for it may have to wait. Each time
    that it is done it tells when it began: what was written before is on the disk."""

    def __init__(self, path):
        go, self.go = os.pipe()
        self.done, done = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                root = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                kept = {go, done, root}
                for fd in set(range(3, 1024)) - kept:
                    os.closerange(fd, fd + 1)
                os.read(go, 1)
                while not select.select([go], [], [], DISK_AGE_S_MAX)[0]:
                    began = clocks.boottime_ns()
                    if boot.LIBC.syncfs(root) == 0:
                        os.write(done, struct.pack("<Q", began))
            finally:
                os._exit(0)
        os.close(go)
        os.close(done)

    def reached(self):
        """Up to when, on the boot clock, all that was written is on the disk; None at the process's end."""
        octets = os.read(self.done, 65536)
        if not octets:
            os.close(self.done)
            self.done = None
            return None
        return struct.unpack("<Q", octets[-8:])[0]

    def start(self):
        os.write(self.go, b"+")


class Init:
    """The supervisor. One thread, one poll loop; every method runs on it."""

    def __init__(self):
        self.control = streams.Control()
        self.stdio = streams.Stdio()
        self.workspace_in = open_disk("/dev/vdc", os.O_RDONLY)
        self.workspace_out = open_disk("/dev/vdd", os.O_RDWR)
        self.random = os.open("/dev/random", os.O_WRONLY | os.O_CLOEXEC)
        self.agent = agents.Agent(boot.AGENTS_ROOT if FIRST else "/")
        self.agent.prepare()
        self.agent.show(WORKSPACE)
        self.disk = DiskKeeper(self.agent.root)
        events = boot.hide_events_port()
        boot.forbid()
        if FIRST:
            boot.shut_doors()
        self.tracer = Tracer(events, self.agent.cgroup_id if FIRST else 0)
        self.draining = False  # whether the host waits for the tracer to have sent everything
        self.waiting = None  # the host's `start`, from when all is in place until its `launch`
        self.ended = None  # the agent's wait status, once it has ended
        self.exit_said = False
        self.workers = {}  # pid → what to do with its status
        self.host_gone_since_ns = None
        self.wakeup, wakeup = os.pipe()
        for fd in (self.wakeup, wakeup):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)

    def serve(self):
        step = self.get_ready
        while True:
            try:
                step()
            except Exception as failure:  # one bad message must not end process 1
                # Not the stack: for that Python would read files.
                print(f"blackbox: init: {type(failure).__name__}: {failure}", file=sys.stderr, flush=True)
                self.control.say({"type": "error", "what": f"{type(failure).__name__}: {failure}"[:2000]})
            step = self.turn

    def get_ready(self):
        if self.tracer.pid:
            # Before it begins: it would be recorded, with numbers that another machine's processes do not have.
            self.agent.guard([os.getpid(), self.disk.pid, self.tracer.pid])
            self.tracer.begin()
        ready = self.tracer.await_answer("ready") if self.tracer.pid else {"attached": [], "failed": [], "absent": True}
        ready.pop("type", None)
        if self.tracer.pid:
            self.tracer.keep()
        ready["agentCgroup"] = self.agent.cgroup_id
        ready["mounts"] = self.agent.mounts
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot_id = file.read().strip()
        self.control.say(
            {"type": "ready", "bootId": boot_id, "kernel": os.uname().release, "ktimeNs": clocks.boottime_ns(), "tracer": ready}
        )
        if STARTED_BY_BOOT:
            self.go()
        notify_systemd()

    def turn(self):
        for fd, events in self.poll():
            if fd == self.wakeup:
                os.read(self.wakeup, 4096)
            elif fd == self.control.fd:
                self.watch_host(events)
                self.control.flush()
                for message in self.control.messages():
                    self.obey(message)
            elif fd == self.stdio.fd:
                self.stdio.flush()
                self.stdio.feed()
            elif fd in self.stdio.sources:
                self.stdio.pump(fd)
            elif fd == self.stdio.stdin:
                self.stdio.push()
            elif fd == self.disk.done:
                self.tell_synced(self.disk.reached())
            elif self.tracer.pid and fd == self.tracer.stdout:
                self.hear_tracer()
        self.reap()
        self.finish()

    def poll(self):
        poller = select.poll()
        poller.register(self.control.fd, select.POLLIN | (select.POLLOUT if self.control.backlog else 0))
        # While the agent is slow to read, stdin frames wait in the port, which holds the host back.
        wanted = 0 if len(self.stdio.pending) >= streams.BACKLOG_BYTES_MAX else select.POLLIN
        wanted |= select.POLLOUT if self.stdio.backlog else 0
        if wanted:
            poller.register(self.stdio.fd, wanted)
        if not self.stdio.full():
            for fd in self.stdio.sources:
                poller.register(fd, select.POLLIN)
        if self.stdio.stdin is not None and self.stdio.pending:
            poller.register(self.stdio.stdin, select.POLLOUT)
        if self.tracer.pid and not self.tracer.heard_all:
            poller.register(self.tracer.stdout, select.POLLIN)
        poller.register(self.wakeup, select.POLLIN)
        # Of no use to a host that does not read.
        if self.disk.done is not None and not self.control.backlog:
            poller.register(self.disk.done, select.POLLIN)
        return poller.poll()

    def watch_host(self, events):
        """A host whose end of the control port stays closed has died: nobody would ever stop this machine."""
        if not events & select.POLLHUP:
            self.host_gone_since_ns = None
            return
        now = time.monotonic_ns()
        self.host_gone_since_ns = self.host_gone_since_ns or now
        if FIRST and now - self.host_gone_since_ns > HOST_GONE_NS_MAX:
            self.poweroff({})
        time.sleep(0.1)

    def obey(self, message):
        operations = {
            "ping": self.ping,
            "start": self.start,
            "launch": self.launch,
            "clock": self.clock,
            "signal": self.signal,
            "resize": self.resize,
            "drain": self.drain,
            "collect": self.collect,
            "poweroff": self.poweroff,
        }
        operation = operations.get(message.get("op"))
        if operation is None:
            raise ValueError(f"unknown operation {message.get('op')!r}")
        operation(message)

    def ping(self, message):
        self.control.say({"type": "pong", "id": message.get("id"), "ktimeNs": clocks.boottime_ns(), "wallNs": time.time_ns()})

    def clock(self, message):
        """What time it is to be. A clock that is behind is set forward; none is ever set back: one that is ahead can be
        told to run more slowly, its boot clock with it, by how many microseconds it gains in a tick of ten thousand, and by
        how many milliseconds it is to lose more."""
        if "tickUs" in message:
            clocks.set_pace(message["tickUs"], message.get("aheadMs", 0))
        now, forward = clocks.set_forward(message["wallNs"])
        self.control.say(
            {"type": "clock", "id": message.get("id"), "ktimeNs": clocks.boottime_ns(), "wallNs": now, "forwardNs": forward}
        )

    def start(self, message):
        """Puts everything in place for the agent and says so; the host then says what time it is, and `launch`."""
        if self.agent.pid or self.workers or self.waiting:
            raise ValueError("the agent has been started before")
        self.go()
        self.seed(base64.b64decode(message["entropy"]))
        self.agent.limit_disk(message.get("diskBytesMax", 0))
        self.agent.trust(message.get("trusted"))
        if message["workspaceBytes"] == 0:
            self.prepared(message)
            return
        fcntl.ioctl(self.workspace_in, BLKFLSBUF, 0)  # what the snapshot's kernel remembers of this disk is not ours
        owner = "--no-same-owner" if message["user"] == "root" else "--same-owner"
        pid = self.tar(self.workspace_in, ["-x", "-p", "-f", "-", "--numeric-owner", owner, "-C", WORKSPACE])
        self.workers[pid] = lambda status: self.unpacked(status, message)

    def go(self):
        """The tracer is silent from ready on, so that a snapshot holds no half-sent events. From here on it sends."""
        if self.tracer.succeeded:
            raise OSError("the tracer ended before the agent began")
        if self.tracer.pid:
            self.tracer.say({"op": "go"})
            self.tracer.await_answer("going")

    def seed(self, entropy):
        """What the agent's threads draw from the kernel then follows from this and from which thread it is."""
        if self.tracer.pid:
            key = hashlib.sha256(DRAWING_LABEL + entropy).hexdigest()
            self.tracer.say({"op": "seed", "key": key, "cgroup": self.agent.cgroup_id})
            self.tracer.await_answer("seeded")

    def unpacked(self, status, message):
        if status != 0:
            full = " for want of room on the disk" if os.statvfs(self.agent.root).f_bavail == 0 else ""
            raise OSError(f"the workspace could not be unpacked{full}: tar ended with {status}")
        self.prepared(message)

    def prepared(self, message):
        if message["user"] != "root":
            os.chown(WORKSPACE, 1000, 1000)
        self.agent.limit(message.get("pidsMax", 0))
        self.waiting = message
        self.control.say({"type": "prepared", "trusts": self.agent.trusts})

    def launch(self, message):
        """Fresh entropy, then the host's time, then the agent's first process: nothing that takes long comes between."""
        start, self.waiting = self.waiting, None
        if start is None:
            raise ValueError("there is no agent to launch")
        if self.tracer.succeeded:
            raise OSError("the tracer ended before the agent began")
        ours, agents_ends = streams.terminal(start["tty"]) if start.get("tty") else streams.pipes()
        argv = [base64.b64decode(a) for a in start["argv"]]
        env = [base64.b64decode(e) for e in start["env"]]
        if start.get("tty"):
            env.insert(0, b"TERM=" + start["tty"]["term"].encode())
        entropy = base64.b64decode(start["entropy"])
        self.disk.start()
        began = {}

        def last():
            self.reseed(entropy)
            time.clock_settime_ns(time.CLOCK_REALTIME, message["wallNs"])
            began.update(ktimeNs=clocks.boottime_ns(), wallNs=time.time_ns())

        pid = self.agent.start(argv, env, start["cwd"] or WORKSPACE, start["user"], agents_ends, last)
        for fd in set(agents_ends):
            os.close(fd)
        self.stdio.attach(*ours)
        self.control.say({"type": "started", "pid": pid, "cgroupId": self.agent.cgroup_id, **began})

    def reseed(self, entropy):
        """Every VM restored from one snapshot has the same generator state until this."""
        request = struct.pack(f"ii{len(entropy)}s", len(entropy) * 8, len(entropy), entropy)
        fcntl.ioctl(self.random, RNDADDENTROPY, request)
        fcntl.ioctl(self.random, RNDRESEEDCRNG, 0)

    def signal(self, message):
        if self.agent.pid and self.ended is None:
            os.kill(self.agent.pid, int(message["number"]))

    def resize(self, message):
        self.stdio.resize(message)

    def tar(self, descriptor, arguments):
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(descriptor, 0)
                os.dup2(descriptor if "-c" in arguments else 2, 1)
                os.lseek(0, 0, os.SEEK_SET)
                os.closerange(3, 1024)
                os.execvpe("tar", ["tar", *arguments], {"PATH": os.environ["PATH"], "LC_ALL": "C"})
            finally:
                os._exit(127)
        return pid

    def drain(self, _message):
        self.draining = True
        if self.tracer.absent:
            self.drained({"type": "drained"})
        elif self.tracer.pid:
            self.ask_to_drain()
        else:
            raise EOFError("the tracer ended")

    def ask_to_drain(self):
        try:
            self.tracer.say({"op": "drain"})
        except BrokenPipeError:
            pass  # it has just ended: the one after it is asked

    def drained(self, message):
        self.draining = False
        self.control.say(message)

    def hear_tracer(self):
        try:
            messages = list(self.tracer.messages())
        except EOFError:
            self.tracer.heard_all = True  # its end is heard of by `reap`
            return
        for message in messages:
            if message.get("type") == "drained":
                self.drained(message)
            elif message.get("type") == "error":
                self.control.say(message)
            elif message.get("type") == "going":
                self.read_on()

    def tracer_ended(self):
        """From here on the agent does nothing more. What it did in between is in the ring: no probe was detached. Only then is
        the process waited for: whoever got its number would be taken for the tracer, and left out of the record."""
        ended = clocks.boottime_ns()
        try:
            frozen = self.agent.freeze()
        except OSError:
            frozen = False
        _, status = os.waitpid(self.tracer.pid, 0)
        self.control.say(
            {
                "type": "tracerEnded",
                "status": os.waitstatus_to_exitcode(status),
                "ktimeNs": ended,
                "frozenKtimeNs": clocks.boottime_ns() if frozen else -1,
            }
        )
        if not self.tracer.succeed():
            self.control.say({"type": "error", "what": "the tracer ended"})
        elif self.draining:
            self.ask_to_drain()

    def read_on(self):
        """Another tracer reads on: the agent's end and what comes after it are seen."""
        self.agent.kill_all()

    def tell_synced(self, boottime):
        if boottime is not None:
            self.control.say({"type": "synced", "ktimeNs": boottime})

    def collect(self, _message):
        self.agent.kill_all()
        try:
            self.agent.show(WORKSPACE)
        except OSError as failure:
            self.uncollected(str(failure))
            return
        arguments = ["-c", "-f", "-", "--format=posix", "--sort=name", "--numeric-owner", "--warning=no-file-ignored"]
        arguments += ["--pax-option=delete=atime,delete=ctime", "-C", WORKSPACE, "."]
        self.workers[self.tar(self.workspace_out, arguments)] = self.collected

    def collected(self, status):
        if status != 0:
            self.uncollected(f"tar ended with {status}")
            return
        length = os.lseek(self.workspace_out, 0, os.SEEK_CUR)
        os.fsync(self.workspace_out)
        self.control.say({"type": "collected", "bytes": length})

    def uncollected(self, why):
        self.control.say({"type": "uncollected", "what": why})

    def poweroff(self, _message):
        self.agent.kill_all()
        began = clocks.boottime_ns()
        os.sync()
        self.tell_synced(began)
        boot.LIBC.reboot(0x4321FEDC)

    def reap(self):
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            if ended.si_pid == self.tracer.pid:
                self.tracer_ended()
                continue
            pid, status = os.waitpid(ended.si_pid, 0)
            if pid == self.agent.pid:
                self.ended = status
                self.agent.kill_all()
            elif pid in self.workers:
                self.workers.pop(pid)(os.waitstatus_to_exitcode(status))

    def finish(self):
        """Says `exit` when the agent has ended and the last byte of its output is on its way."""
        if self.ended is None or self.exit_said or self.stdio.sources or self.stdio.backlog:
            return
        self.stdio.close_stdin()
        code = os.waitstatus_to_exitcode(self.ended)
        self.exit_said = True
        self.control.say(
            {
                "type": "exit",
                "code": code if code >= 0 else None,
                "signal": -code if code < 0 else None,
                "limits": self.agent.limits_reached(),
                "ktimeNs": clocks.boottime_ns(),
                "wallNs": time.time_ns(),
            }
        )


def main():
    boot.precede()
    if FIRST:
        os.environ.clear()
        os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        boot.mounts()
        boot.names()
        boot.network()
        boot.ports()
    Init().serve()


main()
