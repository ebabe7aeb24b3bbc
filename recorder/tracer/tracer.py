"""The tracer in the guest: carries bytes from the BPF program's ring to the host.

Python decides nothing about events: it has the program loaded and attached (load.py), tests that it sees, and writes the
ring's pages to the port as they are. It talks to the guest's init in JSON lines on stdin and stdout:

    → {"type": "ready", "attached": […], "failed": […], "canary": {…}, "cpuSeq": […], "sources": {…}, …}
    ← {"op": "go"}      → {"type": "going"}     from here on events flow; before it nothing is written to the port
    ← {"op": "seed", "key": hex, "cgroup": id}
                        → {"type": "seeded"}    what the cgroup's threads draw depends on this key (random.c)
    ← {"op": "drain"}   → {"type": "drained"}   what is folded is flushed, the last heartbeat is marked final

Between ready and go it touches nothing, so that a snapshot taken there holds no half-sent bytes.

With `--resume` it takes the place of a tracer that ended: it inherits the descriptors that init kept, reads the ring on
from where that one stopped, and says {"type": "going"} when it is at its end.
"""

import argparse
import json
import os
import select
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import canary
import compiled
import kernel
import load

# As FLOWS_MAX in net.c.
FLOWS_MAX = 8192
POLL_SECONDS = 0.02
HEARTBEAT_SECONDS = 1.0
# What is folded is told when it has had news for this long, so at the latest after twice that: a file that a program
# opens, reads and closes is then one event, whenever the sweep comes.
SWEEP_SECONDS = 2.5
# How long a flow of datagrams has been quiet when it is told.
QUIET_SECONDS = 5.0
# How many entries are flushed before the ring is looked at again.
SWEEP_SLICE = 256
IO_BYTES = load.MAPS["ios"][1]
COUNTERS_BYTES = load.MAPS["counters"][1]
SETTINGS_BYTES = load.MAPS["settings"][1]
# How often two numbers are read until both are of one moment.
ROUNDS_MAX = 16
FINAL = 1


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Program:
    """The loaded BPF program: its ring, its maps, and what can be called in it."""

    def __init__(self, loaded):
        self.loaded = loaded
        self.maps, self.operations = loaded["maps"], loaded["operations"]
        self.cpus = os.cpu_count() or 1
        self.ring = kernel.Ring(self.maps["events"], compiled.RING_BYTES)
        self.ios = kernel.HashMap(self.maps["ios"], *load.MAPS["ios"])
        self.udp_flows = kernel.HashMap(self.maps["udp_flows"], *load.MAPS["udp_flows"])
        self.tcp_owners = kernel.HashMap(self.maps["tcp_owners"], *load.MAPS["tcp_owners"])
        # Whether flows of which there is no news leave the table, since it was half full at the last sweep.
        self.forgetting = False

    def call(self, operation, *args, cpu=None):
        return kernel.run(self.operations[operation], *args, cpu=cpu)

    def heartbeat(self, flags=0):
        missed = sum(kernel.misses(fd) for fd in self.loaded["probes"]) + self.states_missed()
        for cpu in range(self.cpus):
            self.call("op_heartbeat", flags, missed, cpu=cpu)

    def states_missed(self):
        """How many changes of TCP's states neither of the two programs told, see net.c."""
        program, now = self.loaded["states"], None
        if program is None:
            return 0  # which is said
        for _ in range(ROUNDS_MAX):
            before, now = now, (kernel.misses(program), struct.unpack("<Q", kernel.element(self.maps["made_up_for"], 0, 8))[0])
            if now == before:
                break
        return max(0, now[0] - now[1])

    def sequence(self):
        """How far each CPU's sequence is."""
        counters = [kernel.element(self.maps["counters"], cpu, COUNTERS_BYTES) for cpu in range(self.cpus)]
        return [struct.unpack_from("<Q", each)[0] for each in counters]

    def take_over(self):
        """This process is the tracer from now on: it is left out of what is recorded, and guarded."""
        agents = kernel.element(self.maps["settings"], 0, SETTINGS_BYTES)[8:]
        kernel.set_element(self.maps["settings"], 0, struct.pack("<Q", os.getpid()) + agents)

    def seed(self, key, cgroup):
        """From now on the random numbers of the cgroup's threads are drawn with this key, where the kernel lets us."""
        kernel.set_element(self.maps["drawing"], 0, bytes(8) + key + struct.pack("<Q", cgroup))

    def running(self):
        """Sends what runs already. The bound holds a guest off that forks for ever."""
        begin, done, calls = 1, 0, 0
        while not done and calls < 65536:
            done, begin, calls = self.call("op_running", begin), 0, calls + 1

    def sweep(self, now_ns, everything):
        """Flushes what is folded and has news, all of it or what is due. Yields after each slice, so that the ring is
        drained in between."""
        calls = 0
        for operation, words in self._due(now_ns, everything):
            self.call(operation, *words)
            calls += 1
            if calls % SWEEP_SLICE == 0:
                yield

    def _due(self, now_ns, everything):
        due_ns, quiet_ns = now_ns - SWEEP_SECONDS * 1e9, now_ns - QUIET_SECONDS * 1e9
        for count, keys, values in self.ios.batches():
            wanted = []
            for i in range(count):
                reads, _, writes = struct.unpack_from("<QQQ", values, IO_BYTES * i + 40)
                (refused,) = struct.unpack_from("<Q", values, IO_BYTES * i + 104)
                (since_ns,) = struct.unpack_from("<Q", values, IO_BYTES * i + 88)
                if (reads or writes or refused) and (everything or since_ns < due_ns):
                    wanted.append(struct.unpack_from("<QI", keys, 16 * i))
            for words in wanted:
                yield "op_flush_io", words
        known = 0
        for count, keys, values in self.udp_flows.batches():
            wanted, known = [], known + count
            for i in range(count):
                out, into, _, changed = struct.unpack_from("<4Q", values, 128 * i + 48)
                # Sent where there is news, forgotten where there is none and room is wanted.
                if (everything or changed < quiet_ns) and (out or into or self.forgetting):
                    wanted.append(struct.unpack_from("<4Q", keys, 32 * i))
            for words in wanted:
                yield "op_flush_udp", words
        self.forgetting = known > FLOWS_MAX // 2
        if everything:
            for count, keys, _ in self.tcp_owners.batches():
                for words in list(struct.iter_unpack("<Q", keys.raw[: 8 * count])):
                    yield "op_flush_tcp", words


class Session:
    """From go to the end: drains the ring, beats every second, sweeps, answers init."""

    def __init__(self, program, port):
        self.program, self.port = program, port
        self.pending = b""

    def await_go(self):
        while True:
            for message in self.messages(None):
                if message.get("op") == "go":
                    self.program.heartbeat()
                    self.program.running()
                    self.drain()
                    say({"type": "going"})
                    return

    def run(self):
        beat = swept = time.monotonic()
        sweep = iter(())
        while True:
            self.drain()
            now = time.monotonic()
            if now - beat >= HEARTBEAT_SECONDS:
                self.program.heartbeat()
                beat = now
            slices = next(sweep, sweep)
            if slices is sweep and now - swept >= SWEEP_SECONDS:
                sweep = self.program.sweep(time.clock_gettime_ns(time.CLOCK_BOOTTIME), False)
                swept = now
            for message in self.messages(POLL_SECONDS if slices is sweep else 0):
                self.answer(message)

    def drain(self):
        self.program.ring.drain(self.port)

    def messages(self, seconds):
        if not select.select([0], [], [], seconds)[0]:
            return []
        octets = os.read(0, 65536)
        if not octets:
            raise load.Fatal("init closed the tracer's input")
        *lines, self.pending = (self.pending + octets).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]

    def answer(self, message):
        if message.get("op") == "seed":
            self.program.seed(bytes.fromhex(message["key"]), message["cgroup"])
            say({"type": "seeded"})
        if message.get("op") != "drain":
            return
        for _ in self.program.sweep(time.clock_gettime_ns(time.CLOCK_BOOTTIME), True):
            self.drain()
        self.program.heartbeat(FINAL)
        self.drain()
        say({"type": "drained"})


def ready(program):
    began = time.monotonic()
    seen = canary.check(program.ring)
    say(
        {
            "type": "ready",
            **{key: program.loaded[key] for key in ("attached", "failed", "undrawn", "compiled", "compileSeconds", "attachSeconds")},
            "canary": seen,
            "cpuSeq": program.sequence(),
            "ringBytes": compiled.RING_BYTES,
            "excludedPids": [os.getpid()],
            "emitAddress": kernel.address("bpf_ringbuf_output"),
            "sources": compiled.digests(),
            "canarySeconds": round(time.monotonic() - began, 3),
        }
    )


def start(options):
    if options.loaded is None:
        load.become_tracer(load.Loader(options.agent_cgroup).loaded(), sys.argv[1:])
    kernel.stay_in_memory()
    program = Program(json.loads(os.pread(options.loaded, 1 << 20, 0)))
    if options.resume:
        program.take_over()
        session = Session(program, options.port)
        program.heartbeat()
        session.drain()
        say({"type": "going"})
    else:
        session = Session(program, os.open(options.events, os.O_WRONLY))
        ready(program)
        session.await_go()
    session.run()


def main():
    options = argparse.ArgumentParser(description="traces this machine and writes frames to the host")
    options.add_argument("--events", default="/dev/virtio-ports/blackbox.events", help="where the frames go")
    options.add_argument("--agent-cgroup", type=int, default=0, help="the agent's control group, one below the root")
    options.add_argument("--loaded", type=int, help="the descriptor in which load.py left what it loaded")
    options.add_argument("--resume", action="store_true", help="go on where a tracer ended")
    options.add_argument("--port", type=int, help="with --resume: the descriptor to which that one wrote")
    try:
        start(options.parse_args())
    except Exception as error:
        say({"type": "error", "what": f"{type(error).__name__}: {error}"})
        sys.exit(1)


if __name__ == "__main__":
    main()
