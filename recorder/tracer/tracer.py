"""The tracer in the guest: loads the BPF program, proves that it sees, then carries bytes from the ring to the host.

Python decides nothing about events: it loads, attaches, tests, and writes the ring's pages to the port as they are.
It talks to the guest's init in JSON lines on stdin and stdout:

    → {"type": "ready", "attached": […], "failed": […], "canary": {…}, "cpuSeq": […], "sources": {…}, …}
    ← {"op": "go"}      → {"type": "going"}     from here on events flow; before it nothing is written to the port
    ← {"op": "seed", "key": hex, "cgroup": id}
                        → {"type": "seeded"}    what the cgroup's threads draw depends on this key (random.c)
    ← {"op": "drain"}   → {"type": "drained"}   what is folded is flushed, the last heartbeat is marked final

Between ready and go it touches nothing, so that a snapshot taken there holds no half-sent bytes.
"""

import argparse
import ctypes
import hashlib
import json
import os
import select
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import canary
import kernel
import offsets

PARTS = [
    "tracer.c",
    "path.c",
    "random.c",
    "process.c",
    "file.c",
    "change.c",
    "net.c",
    "privilege.c",
    "control.c",
]
RING_BYTES = 32 << 20
# As CPUS_MAX in tracer.c.
CPUS_MAX = 8
# As FLOWS_MAX in net.c.
FLOWS_MAX = 8192
POLL_SECONDS = 0.02
HEARTBEAT_SECONDS = 1.0
SWEEP_SECONDS = 5.0
# Replaces what the kernel's generator gives; see random.c.
DRAW = "kretfunc__get_random_bytes_user"
IO_BYTES = 104  # of struct io in file.c
FINAL = 1
# Probes without which a run must not start: the canary exercises them, and the answers rest on them.
NEEDED = {"sched_process_exec", "sched_process_fork", "sched_process_exit", "do_filp_open", "filp_close", "vfs_write"}


class Fatal(Exception):
    """The tracer cannot do its work; the message says why."""


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def source():
    text = offsets.header(offsets.load())
    for part in PARTS:
        with open(os.path.join(HERE, part), encoding="utf-8") as file:
            text += f'#line 1 "{part}"\n' + file.read()
    return text


def digests():
    """What ran here, by name: the host compares it with what it put into the image."""
    found = {}
    for name in sorted(os.listdir(HERE)):
        if name.endswith((".c", ".py")):
            with open(os.path.join(HERE, name), "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


class Program:
    """The loaded BPF program and its maps."""

    def __init__(self):
        from bcc import BPF  # takes a second under emulation: only when needed

        if (os.cpu_count() or 1) > CPUS_MAX:
            raise Fatal(f"this guest has {os.cpu_count()} CPUs, the tracer has room for {CPUS_MAX}")
        flags = [f"-DRING_PAGES={RING_BYTES // 4096}", f"-DTRACER_TGID={os.getpid()}", "-w"]
        self.attached, self.failed, self.links = [], [], []
        self.undrawn = None
        # Attaching is done below, one by one, so that what fails is known.
        loader = type("Loader", (BPF,), {"_trace_autoload": lambda _: None})
        self.bpf = loader(text=source(), cflags=flags)
        self.fds = []
        self.said = kernel.Said()
        for name in self._functions():
            self._attach(name)
        self.said.close()
        missing = NEEDED - set(self.attached)
        if missing:
            raise Fatal(f"cannot attach {', '.join(sorted(missing))}: {self.failed}")
        self.cpus = os.cpu_count() or 1
        self.ring = kernel.Ring(self.bpf["events"].map_fd, RING_BYTES)
        self.heartbeat_fd = self._operation("op_heartbeat")
        self.flush_io_fd = self._operation("op_flush_io")
        self.flush_udp_fd = self._operation("op_flush_udp")
        self.flush_tcp_fd = self._operation("op_flush_tcp")
        self.running_fd = self._operation("op_running")
        self.ios = kernel.HashMap(self.bpf["ios"].map_fd, 16, IO_BYTES)
        if ctypes.sizeof(self.bpf["ios"].Leaf) != IO_BYTES:
            raise Fatal(f"an entry of ios has {ctypes.sizeof(self.bpf['ios'].Leaf)} octets, not {IO_BYTES}")
        self.udp_flows = kernel.HashMap(self.bpf["udp_flows"].map_fd, 32, 120)
        self.tcp_owners = kernel.HashMap(self.bpf["tcp_owners"].map_fd, 8, 24)
        # Whether flows of which there is no news leave the table, since it was half full at the last sweep.
        self.forgetting = False

    def _functions(self):
        from bcc import lib

        count = lib.bpf_num_functions(self.bpf.module)
        return [lib.bpf_function_name(self.bpf.module, i).decode() for i in range(count)]

    def _operation(self, name):
        return self.bpf.load_func(name, self.bpf.RAW_TRACEPOINT).fd

    def _attach(self, name):
        kind, _, target = name.partition("__")
        try:
            if kind == "raw_tracepoint":
                self.bpf.attach_raw_tracepoint(tp=target.encode(), fn_name=name.encode())
            elif kind == "kfunc":
                self.bpf.attach_kfunc(fn_name=name.encode())
            elif kind == "kretfunc":
                self.bpf.attach_kretfunc(fn_name=name.encode())
            elif kind == "kmod_ret":
                self._attach_verdict(name)
            else:
                return
        except Exception as error:  # bcc raises nothing more specific, and prints the verifier's reasons
            why = f"{error}: {self.said.last()}"
            if name == DRAW:
                self.undrawn = why  # nothing is unseen for that
            else:
                self.failed.append({"probe": name, "why": why})
            return
        self.attached.append(target)
        self.fds.append(self.bpf.funcs[name.encode()].fd)

    def _attach_verdict(self, name):
        """bcc 0.26's library can attach a program that answers for a function, its Python cannot."""
        from bcc import lib

        link = lib.bpf_attach_kfunc(self.bpf.load_func(name.encode(), self.bpf.TRACING).fd)
        if link < 0:
            raise OSError("the kernel refused it")
        self.links.append(link)

    def heartbeat(self, flags=0):
        missed = sum(kernel.misses(fd) for fd in self.fds)
        for cpu in range(self.cpus):
            kernel.run(self.heartbeat_fd, flags, missed, cpu=cpu)

    def sequence(self):
        """How far each CPU's sequence is."""
        counters = self.bpf["counters"]
        return [counters[ctypes.c_int(cpu)].seq for cpu in range(self.cpus)]

    def seed(self, key, cgroup):
        """From now on the random numbers of the cgroup's threads are drawn with this key, where the kernel lets us."""
        if self.undrawn:
            return
        self.bpf["draw_on"][ctypes.c_int(0)] = ctypes.c_int(self.bpf.funcs[DRAW.encode()].fd)
        drawing = self.bpf["drawing"]
        value = drawing.Leaf(cgroup=cgroup)
        value.key[:] = struct.unpack("<8I", key)
        drawing[ctypes.c_int(0)] = value

    def running(self):
        """Sends what runs already. The bound holds a guest off that forks for ever."""
        begin, done, calls = 1, 0, 0
        while not done and calls < 65536:
            done, begin, calls = kernel.run(self.running_fd, begin), 0, calls + 1

    def sweep(self, now_ns, everything):
        """Flushes what is folded and has news: all of it, or what is older than the sweep's period."""
        idle_ns = now_ns - int(SWEEP_SECONDS * 1e9)
        for count, keys, values in self.ios.batches():
            wanted = []
            for i in range(count):
                reads, _, writes = struct.unpack_from("<QQQ", values, IO_BYTES * i + 32)
                (refused,) = struct.unpack_from("<Q", values, IO_BYTES * i + 96)
                if reads or writes or refused:
                    wanted.append(struct.unpack_from("<QI", keys, 16 * i))
            for file, tgid in wanted:
                kernel.run(self.flush_io_fd, file, tgid)
        known = 0
        for count, keys, values in self.udp_flows.batches():
            wanted, known = [], known + count
            for i in range(count):
                out, into, _, changed = struct.unpack_from("<4Q", values, 120 * i + 40)
                # Sent where there is news, forgotten where there is none and room is wanted.
                if (everything or changed < idle_ns) and (out or into or self.forgetting):
                    wanted.append(struct.unpack_from("<4Q", keys, 32 * i))
            for words in wanted:
                kernel.run(self.flush_udp_fd, *words)
        self.forgetting = known > FLOWS_MAX // 2
        if everything:
            for count, keys, _ in self.tcp_owners.batches():
                for (sk,) in list(struct.iter_unpack("<Q", keys.raw[: 8 * count])):
                    kernel.run(self.flush_tcp_fd, sk)


class Session:
    """From go to the end: drains the ring, beats every second, sweeps every five, answers init."""

    def __init__(self, program, port):
        self.program, self.port = program, port
        self.pending = b""

    def run(self):
        self.await_go()
        beat = sweep = time.monotonic()
        while True:
            self.program.ring.drain(self.port)
            now = time.monotonic()
            if now - beat >= HEARTBEAT_SECONDS:
                self.program.heartbeat()
                beat = now
            if now - sweep >= SWEEP_SECONDS:
                self.program.sweep(time.clock_gettime_ns(time.CLOCK_BOOTTIME), False)
                sweep = now
            for message in self.messages(POLL_SECONDS):
                self.answer(message)

    def await_go(self):
        while True:
            for message in self.messages(None):
                if message.get("op") == "go":
                    self.program.heartbeat()
                    self.program.running()
                    self.program.ring.drain(self.port)
                    say({"type": "going"})
                    return

    def messages(self, seconds):
        if not select.select([0], [], [], seconds)[0]:
            return []
        octets = os.read(0, 65536)
        if not octets:
            raise Fatal("init closed the tracer's input")
        *lines, self.pending = (self.pending + octets).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]

    def answer(self, message):
        if message.get("op") == "seed":
            self.program.seed(bytes.fromhex(message["key"]), message["cgroup"])
            say({"type": "seeded"})
        if message.get("op") != "drain":
            return
        self.program.sweep(time.clock_gettime_ns(time.CLOCK_BOOTTIME), True)
        self.program.heartbeat(FINAL)
        self.program.ring.drain(self.port)
        say({"type": "drained"})


def start(options):
    began = time.monotonic()
    program = Program()
    loaded = time.monotonic()
    seen = canary.check(program.ring)
    port = os.open(options.events, os.O_WRONLY)
    say(
        {
            "type": "ready",
            "attached": sorted(program.attached),
            "failed": program.failed,
            "undrawn": program.undrawn,
            "canary": seen,
            "cpuSeq": program.sequence(),
            "ringBytes": RING_BYTES,
            "excludedPids": [os.getpid()],
            "emitAddress": kernel.address("bpf_ringbuf_output"),
            "sources": digests(),
            "loadSeconds": round(loaded - began, 3),
            "canarySeconds": round(time.monotonic() - loaded, 3),
        }
    )
    Session(program, port).run()


def main():
    options = argparse.ArgumentParser(description="traces this machine and writes frames to the host")
    options.add_argument("--events", default="/dev/virtio-ports/blackbox.events", help="where the frames go")
    try:
        start(options.parse_args())
    except Exception as error:
        say({"type": "error", "what": f"{type(error).__name__}: {error}"})
        sys.exit(1)


if __name__ == "__main__":
    main()
