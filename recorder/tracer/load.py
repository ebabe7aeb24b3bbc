"""Compiles and attaches the BPF program, then becomes the tracer: the same process executes tracer.py again, with nothing of
the compiler left in its memory, and with the program's descriptors inherited.

What it knows of them goes along in a memory file (`Loaded`). Whoever holds copies of these descriptors can read the ring on
from where the tracer stopped, should it ever end (see init.py).
"""

import ctypes
import json
import os
import sys

import kernel
import offsets

HERE = os.path.dirname(os.path.abspath(__file__))
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
# Replaces what the kernel's generator gives; see random.c.
DRAW = "kretfunc__get_random_bytes_user"
# Maps that the tracer reads or writes, and the sizes of their keys and values: kernel.py takes them as octets.
MAPS = {
    "events": None,
    "counters": (4, 832),
    "ios": (16, 104),
    "udp_flows": (32, 120),
    "tcp_owners": (8, 24),
    "drawing": (4, 48),
    "draw_on": (4, 4),
}
# What tracer.py calls, see control.c.
OPERATIONS = ("op_heartbeat", "op_flush_io", "op_flush_udp", "op_flush_tcp", "op_running")
# Probes without which a run must not start: the canary exercises them, and the answers rest on them.
NEEDED = {
    "raw_tracepoint__sched_process_exec",
    "raw_tracepoint__sched_process_fork",
    "raw_tracepoint__sched_process_exit",
    "kretfunc__do_filp_open",
    "kfunc__filp_close",
    "kretfunc__vfs_write",
}


class Fatal(Exception):
    """The tracer cannot do its work; the message says why."""


def source():
    text = offsets.header(offsets.load())
    for part in PARTS:
        with open(os.path.join(HERE, part), encoding="utf-8") as file:
            text += f'#line 1 "{part}"\n' + file.read()
    return text


class Loader:
    """Attaches what can be attached, one by one, so that what fails is known."""

    def __init__(self, agent_cgroup):
        from bcc import BPF  # takes a second under emulation

        if (os.cpu_count() or 1) > CPUS_MAX:
            raise Fatal(f"this guest has {os.cpu_count()} CPUs, the tracer has room for {CPUS_MAX}")
        flags = [
            f"-DRING_PAGES={RING_BYTES // 4096}",
            f"-DTRACER_TGID={os.getpid()}",
            f"-DAGENT_CGROUP={agent_cgroup}ULL",
            "-w",
        ]
        self.attached, self.failed, self.links = [], [], []
        self.undrawn = None
        self.bpf = type("Unattached", (BPF,), {"_trace_autoload": lambda _: None})(text=source(), cflags=flags)
        self.said = kernel.Said()
        for name in self._functions():
            self._attach(name)
        self.said.close()
        missing = NEEDED - set(self.attached)
        if missing:
            raise Fatal(f"cannot attach {', '.join(sorted(missing))}: {self.failed}")
        kernel.run(self._operation("op_guard"))

    def _operation(self, name):
        return self.bpf.load_func(name, self.bpf.RAW_TRACEPOINT).fd

    def _functions(self):
        from bcc import lib

        count = lib.bpf_num_functions(self.bpf.module)
        return [lib.bpf_function_name(self.bpf.module, i).decode() for i in range(count)]

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
        self.attached.append(name)

    def _attach_verdict(self, name):
        """bcc 0.26's library can attach a program that answers for a function, its Python cannot."""
        from bcc import lib

        link = lib.bpf_attach_kfunc(self.bpf.load_func(name.encode(), self.bpf.TRACING).fd)
        if link < 0:
            raise OSError("the kernel refused it")
        self.links.append(link)

    def loaded(self, seconds):
        """All that the tracer needs to know, for `Loaded`."""
        for name, sizes in MAPS.items():
            table = self.bpf[name]
            if sizes and (ctypes.sizeof(table.Key), ctypes.sizeof(table.Leaf)) != sizes:
                raise Fatal(f"an entry of {name} has {ctypes.sizeof(table.Key)} and {ctypes.sizeof(table.Leaf)} octets")
        return {
            "maps": {name: self.bpf[name].map_fd for name in MAPS},
            "operations": {name: self._operation(name) for name in OPERATIONS},
            "probes": [self.bpf.funcs[name.encode()].fd for name in self.attached],
            "draw": None if self.undrawn else self.bpf.funcs[DRAW.encode()].fd,
            "attached": sorted(name.partition("__")[2] for name in self.attached),
            "failed": self.failed,
            "undrawn": self.undrawn,
            "loadSeconds": round(seconds, 3),
        }


def become_tracer(loaded, arguments):
    """Executes tracer.py in place of this program; the descriptors of the BPF programs, maps and links go along."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("anon_inode:bpf"):
                os.set_inheritable(fd, True)
        except OSError:
            pass  # the listing's own descriptor
    carried = os.memfd_create("loaded", 0)
    os.write(carried, json.dumps(loaded).encode())
    tracer = os.path.join(HERE, "tracer.py")
    os.execv(sys.executable or "/usr/bin/python3", ["python3", "-I", "-u", tracer, *arguments, "--loaded", str(carried)])
