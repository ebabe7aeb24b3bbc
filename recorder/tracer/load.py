"""Loads and attaches the BPF program, then becomes the tracer: the same process executes tracer.py again, with nothing of
the compiler left in its memory, and with the program's descriptors inherited.

What it knows of them goes along in a memory file (`Loaded`). Whoever holds copies of these descriptors can read the ring on
from where the tracer stopped, should it ever end (see init.py).
"""

import functools
import json
import os
import struct
import sys
import time

import bridge
import compiled
import kernel

HERE = os.path.dirname(os.path.abspath(__file__))
# As CPUS_MAX in tracer.c.
CPUS_MAX = 8
# Replaces what the kernel's generator gives; see random.c.
DRAW = "kretfunc__get_random_bytes_user"
# System calls that are noted, see privilege.c: the kernel's function for 64-bit programs and its number; that for int 0x80
# and its number; what it is in a frame (schemas/wire.md); which of its
# arguments are told, 3 for none; and when.
ALWAYS, CHANGES, RESTRICTS, OTHER, NOT_INIT, SETS, KEPT, REFUSED, GETS = range(9)
NOTED = (
    ("ptrace", 101, "compat_sys_ptrace", 26, 1, (1, 0), CHANGES),
    ("init_module", 175, "sys_init_module", 128, 2, (3, 3), ALWAYS),
    ("finit_module", 313, "sys_finit_module", 350, 2, (2, 3), ALWAYS),
    ("setns", 308, "sys_setns", 346, 4, (1, 3), ALWAYS),
    ("bpf", 321, "sys_bpf", 357, 6, (0, 3), ALWAYS),
    ("prlimit64", 302, "sys_prlimit64", 340, 10, (0, 1), OTHER),
    ("process_vm_readv", 310, "sys_process_vm_readv", 347, 11, (0, 3), ALWAYS),
    ("process_vm_writev", 311, "sys_process_vm_writev", 348, 12, (0, 3), ALWAYS),
    ("pidfd_getfd", 438, "sys_pidfd_getfd", 438, 13, (0, 1), NOT_INIT),
    ("seccomp", 317, "sys_seccomp", 354, 14, (0, 1), SETS),
    ("userfaultfd", 323, "sys_userfaultfd", 374, 15, (0, 3), ALWAYS),
    ("fanotify_init", 300, "sys_fanotify_init", 338, 16, (0, 1), ALWAYS),
    ("perf_event_open", 298, "sys_perf_event_open", 336, 17, (1, 2), ALWAYS),
    ("prctl", 157, "sys_prctl", 172, 19, (0, 1), RESTRICTS),
    ("setgroups", 116, "sys_setgroups", 206, 20, (0, 3), ALWAYS),
    (None, 0, "sys_setgroups16", 81, 20, (0, 3), ALWAYS),
    ("reboot", 169, "sys_reboot", 88, 21, (2, 3), ALWAYS),
    ("kexec_load", 246, "compat_sys_kexec_load", 283, 22, (1, 3), ALWAYS),
    ("kexec_file_load", 320, None, 0, 22, (3, 3), ALWAYS),
    ("swapon", 167, "sys_swapon", 87, 23, (1, 3), ALWAYS),
    ("settimeofday", 164, "compat_sys_settimeofday", 79, 24, (3, 3), NOT_INIT),
    ("clock_settime", 227, "sys_clock_settime", 404, 24, (0, 3), NOT_INIT),
    (None, 0, "sys_clock_settime32", 264, 24, (0, 3), NOT_INIT),
    (None, 0, "sys_stime32", 25, 24, (3, 3), NOT_INIT),
    ("adjtimex", 159, "sys_adjtimex_time32", 124, 24, (3, 3), REFUSED),
    ("clock_adjtime", 305, "sys_clock_adjtime", 405, 24, (0, 3), REFUSED),
    (None, 0, "sys_clock_adjtime32", 343, 24, (0, 3), REFUSED),
    ("iopl", 172, "sys_iopl", 110, 25, (0, 3), ALWAYS),
    ("ioperm", 173, "sys_ioperm", 101, 25, (0, 1), ALWAYS),
    ("umount", 166, "sys_umount", 52, 27, (1, 3), KEPT),
    (None, 0, "sys_oldumount", 22, 27, (3, 3), KEPT),
    ("move_mount", 429, "sys_move_mount", 429, 28, (3, 3), KEPT),
    ("pivot_root", 155, "sys_pivot_root", 217, 29, (3, 3), KEPT),
    ("chroot", 161, "sys_chroot", 61, 30, (3, 3), KEPT),
    ("open_tree", 428, "sys_open_tree", 428, 31, (2, 3), ALWAYS),
    ("fsopen", 430, "sys_fsopen", 430, 32, (1, 3), ALWAYS),
    ("fsmount", 432, "sys_fsmount", 432, 33, (1, 2), ALWAYS),
    ("mount_setattr", 442, "sys_mount_setattr", 442, 34, (2, 3), ALWAYS),
    ("fsconfig", 431, "sys_fsconfig", 431, 35, (1, 3), ALWAYS),
    ("fspick", 433, "sys_fspick", 433, 36, (2, 3), ALWAYS),
    # What changes ids is seen where they change; here is what the kernel refuses.
    ("setuid", 105, "sys_setuid", 213, 37, (0, 3), REFUSED),
    (None, 0, "sys_setuid16", 23, 37, (0, 3), REFUSED),
    ("setgid", 106, "sys_setgid", 214, 38, (0, 3), REFUSED),
    (None, 0, "sys_setgid16", 46, 38, (0, 3), REFUSED),
    ("setreuid", 113, "sys_setreuid", 203, 39, (0, 1), REFUSED),
    (None, 0, "sys_setreuid16", 70, 39, (0, 1), REFUSED),
    ("setregid", 114, "sys_setregid", 204, 40, (0, 1), REFUSED),
    (None, 0, "sys_setregid16", 71, 40, (0, 1), REFUSED),
    ("setresuid", 117, "sys_setresuid", 208, 41, (0, 1), REFUSED),
    (None, 0, "sys_setresuid16", 164, 41, (0, 1), REFUSED),
    ("setresgid", 119, "sys_setresgid", 210, 42, (0, 1), REFUSED),
    (None, 0, "sys_setresgid16", 170, 42, (0, 1), REFUSED),
    # Where it changes the inheritable capabilities alone, nothing else is told of it.
    ("capset", 126, "sys_capset", 185, 43, (3, 3), ALWAYS),
    ("sethostname", 170, "sys_sethostname", 74, 44, (1, 3), NOT_INIT),
    ("setdomainname", 171, "sys_setdomainname", 121, 45, (1, 3), ALWAYS),
    # What has a number that the kernel draws, or that is made of a file's, is told without it: it differs in a replay.
    ("add_key", 248, "sys_add_key", 286, 46, (3, 3), ALWAYS),
    ("request_key", 249, "sys_request_key", 287, 47, (3, 3), ALWAYS),
    ("keyctl", 250, "compat_sys_keyctl", 288, 48, (0, 3), ALWAYS),
    ("landlock_restrict_self", 446, "sys_landlock_restrict_self", 446, 49, (1, 3), ALWAYS),
    ("mq_open", 240, "compat_sys_mq_open", 277, 50, (1, 3), ALWAYS),
    ("mq_unlink", 241, "sys_mq_unlink", 278, 51, (3, 3), ALWAYS),
    ("shmget", 29, "sys_shmget", 395, 52, (3, 3), ALWAYS),
    ("semget", 64, "sys_semget", 393, 53, (1, 3), ALWAYS),
    ("msgget", 68, "sys_msgget", 399, 54, (3, 3), ALWAYS),
    (None, 0, "compat_sys_ipc", 117, 55, (0, 3), GETS),
    ("delete_module", 176, "sys_delete_module", 129, 56, (1, 3), ALWAYS),
    ("acct", 163, "sys_acct", 51, 57, (3, 3), ALWAYS),
    ("swapoff", 168, "sys_swapoff", 115, 58, (3, 3), ALWAYS),
    ("open_by_handle_at", 304, "compat_sys_open_by_handle_at", 342, 59, (2, 3), ALWAYS),
    ("process_madvise", 440, "sys_process_madvise", 440, 60, (3, 3), ALWAYS),
)
BY_INT_80 = 1 << 31
# How the names of programs begin that are bound to a kernel function.
BOUND = {"kfunc": kernel.FENTRY, "kretfunc": kernel.FEXIT, "kmod_ret": kernel.MODIFY_RETURN}
# Maps that the tracer reads or writes, and the sizes of their keys and values: kernel.py takes them as octets.
MAPS = {
    "made_up_for": (4, 8),
    "events": None,
    "counters": (4, 832),
    "ios": (16, 112),
    "udp_flows": (32, 128),
    "tcp_owners": (8, 32),
    "drawing": (4, 48),
    "settings": (4, 16),
}
# What tracer.py calls, see control.c.
OPERATIONS = ("op_heartbeat", "op_flush_io", "op_flush_udp", "op_flush_tcp", "op_running")
# Ends the names of programs that do again what another one on the same tracepoint was left out of, see net.c.
AGAIN = "__again"
STATES = "raw_tracepoint__inet_sock_set_state"
# Probes without which a run must not start: the canary exercises them, and the answers rest on them.
NEEDED = {
    "raw_tracepoint__sched_process_exec",
    "raw_tracepoint__sched_process_fork",
    "raw_tracepoint__sched_process_exit",
    "kretfunc__do_filp_open",
    "kfunc__filp_close",
    "kretfunc__vfs_write",
}


# Where an agent has a control group, these keep it off the tracer.
GUARDS = {
    "kmod_ret__security_task_kill",
    "kmod_ret__security_task_prlimit",
    "kmod_ret__security_file_send_sigiotask",
    "kmod_ret__security_bprm_check",
    "kmod_ret__security_file_open",
}


class Fatal(Exception):
    """The tracer cannot do its work; the message says why."""


def write_settings(settings, agent_cgroup):
    """Tells the programs that this process is the tracer, and which control group is the agent's."""
    kernel.set_element(settings, 0, struct.pack("<QQ", os.getpid(), agent_cgroup))


def targets(names):
    """The kernel functions to which programs of these names are bound."""
    bound = [target for kind, _, target in (name.partition("__") for name in names) if kind in BOUND]
    return bound + [target for call in NOTED for target, *_ in _calls(*call)]


def _calls(name, number, compat, by_int_80, what, arguments, when):
    """The kernel's functions for a noted call: (function, key in `noted_calls`, program)."""
    if name:
        yield f"__x64_sys_{name}", number, "noted__by_syscall"
    if compat:
        yield f"__ia32_{compat}", BY_INT_80 | by_int_80, "noted__by_int_80"


class Loader:
    """Loads and attaches what can be attached, one by one, so that what fails is known.

    Programs that are bound to a kernel function are loaded by calls of our own: for each of them bcc's library would read
    all of the kernel's type information again."""

    def __init__(self, agent_cgroup):
        if (os.cpu_count() or 1) > CPUS_MAX:
            raise Fatal(f"this guest has {os.cpu_count()} CPUs, the tracer has room for {CPUS_MAX}")
        began = time.monotonic()
        self.compiled = compiled.kept() or compiled.compile(targets)
        loading = time.monotonic()
        self.attached, self.failed, self.links = {}, [], []
        self.undrawn = None
        self.said = kernel.Said()
        self.maps = {each["name"]: bridge.make_map(each) for each in self.compiled["maps"]}
        write_settings(self.maps["settings"], agent_cgroup)
        for name in self.compiled["programs"]:
            self._attach(name)
        self._note()
        self.said.close()
        self.compile_seconds, self.attach_seconds = loading - began, time.monotonic() - loading
        needed = NEEDED | GUARDS if agent_cgroup else NEEDED
        missing = needed - {name for name, _ in self.attached}
        if missing:
            raise Fatal(f"cannot attach {', '.join(sorted(missing))}: {self.failed}")
        if not kernel.run(self._operation("op_guard")):
            raise Fatal("the tracer's own credentials cannot be read")

    @functools.cache
    def _instructions(self, name):
        return compiled.instructions(self.compiled["programs"][name], self.maps.values())

    def _operation(self, name):
        """Loads a program that takes raw arguments."""
        instructions = self._instructions(name)
        return (kernel.load_raw_tracepoint if kernel.functions(instructions) else bridge.load)(name, instructions)

    def _note(self):
        """Binds one program to many system calls."""
        for call in NOTED:
            *_, what, (a, b), when = call
            for target, key, program in _calls(*call):
                kernel.set_element(self.maps["noted_calls"], key, struct.pack("<4I", what, a, b, when))
                self._bind(target, program, kernel.FEXIT)

    def _attach(self, name):
        kind, _, target = name.partition("__")
        if kind in BOUND:
            self._bind(target, name, BOUND[kind])
        elif kind == "raw_tracepoint":
            first, target = name.removesuffix(AGAIN), target.removesuffix(AGAIN)
            try:
                if first != name and (first, target) not in self.attached:
                    raise OSError(f"{first} is not attached before it")
                program = self._operation(name)
                self.links.append(bridge.attach_raw_tracepoint(program, target))
                self.attached[name, target] = program
            except OSError as error:
                self.failed.append({"probe": target, "why": f"{error}: {self.said.last()}"})

    def _bind(self, target, name, how):
        """Has a program run where the kernel calls the function `target`."""
        try:
            function = self.compiled["functions"].get(target)
            if function is None:
                raise OSError(f"kernel has no function {target} to be bound to")
            program = kernel.load_tracing(target, self._instructions(name), how, function)
            self.links.append(kernel.attach_tracing(program))
            self.attached[name, target] = program
        except OSError as error:
            if name == DRAW:
                self.undrawn = str(error)  # nothing is unseen for that
            else:
                self.failed.append({"probe": f"{name} at {target}", "why": str(error)})

    def loaded(self):
        """All that the tracer needs to know, for `Loaded`."""
        forms = {each["name"]: (each["key"], each["value"]) for each in self.compiled["maps"]}
        for name, sizes in MAPS.items():
            if sizes and forms[name] != sizes:
                raise Fatal(f"an entry of {name} has {forms[name]} octets")
        return {
            "maps": {name: self.maps[name] for name in MAPS},
            "operations": {name: self._operation(name) for name in OPERATIONS},
            "probes": [program for (name, _), program in self.attached.items() if name.removesuffix(AGAIN) != STATES],
            "states": self.attached.get((STATES, STATES.partition("__")[2])),
            "attached": sorted({target for _, target in self.attached}),
            "failed": self.failed,
            "undrawn": self.undrawn,
            "compiled": self.compiled.get("sha256"),
            "compileSeconds": round(self.compile_seconds, 3),
            "attachSeconds": round(self.attach_seconds, 3),
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
