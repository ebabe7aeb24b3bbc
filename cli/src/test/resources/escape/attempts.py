"""In QEMU's place: what a guest that has taken QEMU over would try. Says for each attempt what came of it.

Usage: attempts.py TARGETS, a JSON object with paths, ports and process ids outside. Prints one JSON object a line:
{"attempt": …, "got": null or what it got, "refused": null or the reason}.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading

TARGETS = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
# Of x86-64.
CALLS = {
    "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "timer_create": 222,
    "setitimer": 38, "fcntl": 72,
    "ptrace": 101, "syslog": 103, "setuid": 105, "capset": 126, "mknod": 133, "personality": 135, "pivot_root": 155,
    "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "reboot": 169,
    "sethostname": 170, "iopl": 172, "ioperm": 173, "init_module": 175, "quotactl": 179, "add_key": 248,
    "keyctl": 250, "kexec_load": 246, "unshare": 272, "utimensat": 280, "perf_event_open": 298, "fanotify_init": 300,
    "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "finit_module": 313, "memfd_create": 319, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "pidfd_open": 434, "clone3": 435,
    "pidfd_getfd": 438, "mount_setattr": 442, "landlock_create_ruleset": 444, "chmod": 90, "chown": 92, "rename": 82,
    "symlink": 88, "link": 86, "mkdir": 83, "shmget": 29, "inotify_init": 253, "process_madvise": 440,
}
NEW_USER = 0x10000000
SIZE = 4096


class Refused(Exception):
    pass


def call(name, *arguments):
    ctypes.set_errno(0)
    result = LIBC.syscall(CALLS[name], *arguments)
    if result < 0:
        raise Refused(errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno()))
    return f"{name} gave {result}"


def octets(text):
    return ctypes.c_char_p(text.encode())


def read(path):
    with open(path, "rb") as file:
        return repr(file.read(64))


def write(path):
    with open(path, "r+b", buffering=0) as file:
        return f"wrote {file.write(b'x')} octets of {path}"


def create(path):
    with open(path, "xb"):
        return f"made {path}"


def entries(path, expected):
    others = sorted(set(os.listdir(path)) - set(expected))
    if not others:
        raise Refused("nothing but its own")
    return others


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as made:
        made.settimeout(5)
        made.connect(address)
        return f"connected to {address}"


def make_socket(family, kind):
    with socket.socket(family, kind):
        return "made it"


def descriptors():
    own = {0, 1, 2} | {channel.fileno() for channel in channels}
    others = []
    for number in set(range(1024)) - own:
        try:
            others.append(f"{number} {os.fstat(number)}")
        except OSError:
            continue
    if not others:
        raise Refused("none inherited")
    return others


def bind(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)
        return f"bound {path}"


def lock(path, command, kind):
    opened = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(opened, command, struct.pack("hhqqi4x", kind, 0, 0, 1, 0))
        return f"locked {path}"
    finally:
        os.close(opened)


def environment():
    others = sorted(set(os.environ) - {"PATH", "HOME", "LC_ALL", "PWD", "OLDPWD", "LC_CTYPE"})
    if not others:
        raise Refused("none of anybody's")
    return others


def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "forked"


def execute(path):
    os.execv(path, [path, "-c", "echo executed"])


def clone_as_other_user():
    arguments = (ctypes.c_uint64 * 8)(NEW_USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    if LIBC.syscall(CALLS["clone3"], ctypes.byref(arguments), 64) == 0:
        os._exit(0)
    raise Refused(errno.errorcode.get(ctypes.get_errno()))


def raise_limit(which):
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        return "it has none"
    resource.setrlimit(which, (hard + 1, hard + 1))
    return f"raised {hard}"


def no_core():
    if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
        return resource.getrlimit(resource.RLIMIT_CORE)
    raise Refused("no core dumps")


def threads():
    stop = threading.Event()
    started = []
    try:
        for _ in range(2000):
            thread = threading.Thread(target=stop.wait)
            thread.start()
            started.append(thread)
        return f"started {len(started)}"
    except RuntimeError:
        if len(started) > 128:
            return f"started {len(started)}"
        raise Refused(f"after {len(started)}") from None
    finally:
        stop.set()
        for thread in started:
            thread.join()


def memory():
    LIBC.mmap.restype = ctypes.c_void_p
    LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    step = 256 << 20
    got = []
    try:
        while len(got) < 256:
            place = LIBC.mmap(None, step, 3, 0x22, -1, 0)
            if place == ctypes.c_void_p(-1).value:
                raise Refused(f"after {len(got) * step >> 20} MiB")
            got.append(place)
        return f"{len(got) * step >> 20} MiB"
    finally:
        for place in got:
            LIBC.munmap(place, step)


def files():
    opened = []
    try:
        while len(opened) < 5000:
            opened.append(os.open("/dev/null", os.O_RDONLY))
        return f"opened {len(opened)}"
    finally:
        for each in opened:
            os.close(each)


def long_file(path):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open(path, "r+b") as file:
        before = os.fstat(file.fileno()).st_size
        file.truncate(1 << 42)
        file.truncate(before)
        return "4 TiB"


def who():
    real = os.getuid()
    if real == 0:
        return "it is root"
    raise Refused(f"it is {real}")


def attempts():
    own, outside = TARGETS["own"], TARGETS["outside"]
    for name, path in sorted(outside.items()):
        yield f"read {name}", lambda path=path: read(path)
        yield f"write {name}", lambda path=path: write(path)
    for name in ("image", "snapshot-state", "program", "workspace-in"):
        yield f"write {name}", lambda name=name: write(own[name])
    for name in ("/proc/self/status", "/proc/1/environ", "/proc/%d/environ" % TARGETS["recorder"], "/sys/kernel",
                 "/etc/passwd", "/etc/shadow", "/root", "/home", "/var", "/run", "/dev/mem", "/dev/kmsg", "/bin/sh",
                 "/usr/bin/sh"):
        yield f"open {name}", lambda name=name: os.open(name, os.O_RDONLY)
    yield "see more of the data folder", lambda: entries(TARGETS["data"], TARGETS["visible"])
    yield "see more captures", lambda: entries(TARGETS["captures"], TARGETS["captured"])
    yield "inherit descriptors", descriptors
    yield "inherit an environment", environment
    yield "make a file in its folder", lambda: create("planted")
    yield "make a file beside its captures", lambda: create("capture/planted")
    yield "make a file among its sockets", lambda: create("sockets/planted")
    yield "make a socket among its sockets", lambda: bind("sockets/planted")
    yield "make a file at the root", lambda: create("/planted")
    yield "make a file in /tmp", lambda: create("/tmp/planted")
    yield "delete its disk", lambda: os.unlink("state.disk")
    yield "delete its lock", lambda: os.unlink("lock")
    for name in ("rename", "symlink", "link"):
        yield f"{name} its disk", lambda name=name: call(name, octets("state.disk"), octets("other"))
        yield f"{name} over a capture", lambda name=name: call(name, octets("/etc/shadow"), octets("capture/blocks"))
    for name in ("image", "snapshot-state"):
        yield f"lock {name}", lambda name=name: lock(own[name], 37, fcntl.F_RDLCK)
        yield f"lock {name} as a process", lambda name=name: lock(own[name], fcntl.F_SETLK, fcntl.F_RDLCK)
    yield "flock its disk", lambda: fcntl.flock(os.open("state.disk", os.O_RDONLY), fcntl.LOCK_EX)
    yield "lease its disk", lambda: fcntl.fcntl(os.open("state.disk", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
    yield "reserve room on the disk", lambda: os.posix_fallocate(os.open("state.disk", os.O_RDWR), 0, 1 << 30)
    yield "open the sockets to itself", lambda: call("chmod", octets("sockets"), 0o777)
    yield "chmod its disk", lambda: call("chmod", octets("state.disk"), 0o777)
    yield "chown its disk", lambda: call("chown", octets("state.disk"), 0, 0)
    yield "set a file's time", lambda: call("utimensat", -100, octets("state.disk"), None, 0)
    yield "connect to a port", lambda: connect(socket.AF_INET, ("127.0.0.1", TARGETS["port"]))
    yield "connect to a port by IPv6", lambda: connect(socket.AF_INET6, ("::1", TARGETS["port"]))
    yield "send a datagram", lambda: connect(socket.AF_INET, ("127.0.0.1", 53), socket.SOCK_DGRAM)
    yield "connect to another's socket", lambda: connect(socket.AF_UNIX, TARGETS["socket"])
    yield "make a raw socket", lambda: make_socket(socket.AF_INET, socket.SOCK_RAW)
    yield "make a packet socket", lambda: make_socket(socket.AF_PACKET, socket.SOCK_RAW)
    yield "make a netlink socket", lambda: make_socket(socket.AF_NETLINK, socket.SOCK_RAW)
    yield "make a vsock", lambda: make_socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    yield "signal the recorder", lambda: os.kill(TARGETS["recorder"], 0)
    yield "be root", who
    buffer = ctypes.create_string_buffer(SIZE)
    recorder = TARGETS["recorder"]
    for name, arguments in (
            ("ptrace", (16, recorder, 0, 0)), ("process_vm_readv", (recorder, buffer, 1, buffer, 1, 0)),
            ("process_vm_writev", (recorder, buffer, 1, buffer, 1, 0)), ("pidfd_open", (recorder, 0)),
            ("pidfd_getfd", (0, 0, 0)), ("process_madvise", (0, buffer, 1, 4, 0)),
            ("mount", (octets("none"), octets("/"), octets("tmpfs"), 0, None)), ("umount2", (octets("/dev/null"), 2)),
            ("chroot", (octets("/"),)), ("pivot_root", (octets("/"), octets("/"))),
            ("open_tree", (-100, octets("/"), 1)), ("move_mount", (0, octets(""), 0, octets(""), 4)),
            ("fsopen", (octets("tmpfs"), 0)), ("mount_setattr", (-100, octets("/"), 0, buffer, 32)),
            ("init_module", (buffer, SIZE, octets(""))), ("finit_module", (0, octets(""), 0)),
            ("kexec_load", (0, 0, None, 0)), ("reboot", (0, 0, 0, None)), ("bpf", (5, buffer, 128)),
            ("io_uring_setup", (1, buffer)), ("userfaultfd", (0,)), ("perf_event_open", (buffer, 0, -1, -1, 0)),
            ("unshare", (NEW_USER,)), ("setns", (0, 0)), ("add_key", (octets("user"), octets("a"), buffer, 1, -3)),
            ("keyctl", (0, -3, 0)), ("fanotify_init", (0, 0)), ("inotify_init", ()), ("memfd_create", (octets("a"), 0)),
            ("name_to_handle_at", (-100, octets("/"), buffer, buffer, 0)), ("open_by_handle_at", (0, buffer, 0)),
            ("quotactl", (0, None, 0, None)), ("swapon", (octets("/dev/null"), 0)), ("sethostname", (octets("a"), 1)),
            ("settimeofday", (buffer, None)), ("iopl", (3,)), ("ioperm", (0x60, 1, 1)), ("syslog", (3, buffer, SIZE)),
            ("acct", (None,)), ("personality", (0x0040000,)), ("mknod", (octets("/tmp/n"), 0o20666, 0x101)),
            ("mkdir", (octets("/tmp/d"), 0o777)), ("shmget", (0, SIZE, 0o1666)), ("setuid", (0,)),
            ("landlock_create_ruleset", (None, 0, 1)), ("prlimit64", (recorder, 7, buffer, None))):
        yield name, lambda name=name, arguments=arguments: call(name, *arguments)
    own, awake = os.getpid(), signal.SIGCONT
    yield "kill with SIGCONT", lambda: call("kill", own, awake)
    yield "kill with SIGCONT and more", lambda: call("kill", own, ctypes.c_uint64(1 << 32 | awake))
    yield "tkill with SIGCONT", lambda: call("tkill", own, awake)
    yield "tgkill with SIGCONT", lambda: call("tgkill", own, own, awake)
    yield "rt_sigqueueinfo with SIGCONT", lambda: call("rt_sigqueueinfo", own, awake, buffer)
    yield "rt_tgsigqueueinfo with SIGCONT", lambda: call("rt_tgsigqueueinfo", own, own, awake, buffer)
    yield "timer_create", lambda: call("timer_create", 0, None, buffer)
    yield "setitimer", lambda: call("setitimer", 0, buffer, None)
    yield "fcntl with a signal", lambda: call("fcntl", 0, 10, awake)
    yield "clone3 with a user namespace", clone_as_other_user
    yield "fork", fork
    yield "execute a shell", lambda: execute("/bin/sh")
    yield "execute bubblewrap", lambda: execute("/usr/bin/bwrap")
    yield "dump core", no_core
    for name in ("NOFILE", "FSIZE", "AS", "NPROC"):
        yield f"raise its limit {name}", lambda name=name: raise_limit(getattr(resource, "RLIMIT_" + name))
    yield "threads without end", threads
    yield "memory without end", memory
    yield "open files without end", files
    yield "a file without end", lambda: long_file("state.disk")


# As QEMU does while it starts; from then on its limits hold.
channels = [socket.socket(socket.AF_UNIX) for _ in TARGETS["sockets"]]
for channel, name in zip(channels, TARGETS["sockets"]):
    channel.connect("sockets/" + name)
sys.stdin.readline()
for attempt, act in attempts():
    got, refused = None, None
    try:
        got = repr(act())
    except (Refused, OSError, ValueError, MemoryError) as reason:
        refused = str(reason)
    print(json.dumps({"attempt": attempt, "got": got, "refused": refused}), flush=True)
# What it is for must work.
for name in ("state.disk", "workspace-out.disk", "capture/blocks"):
    print(json.dumps({"attempt": f"use {name}", "got": repr(write(name)), "refused": None}), flush=True)
channels[0].send(b"x")
print(json.dumps({"attempt": "use its socket", "got": "sent an octet", "refused": None}))
