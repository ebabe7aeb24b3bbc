"""Makes the system calls of system-calls.tsv, which lies beside this file, in the order of its lines.

Each line is called in a process of its own. Openings of the paths BEGIN and END with the line's position, neither of which
is there, say in the record which of that process's events are the call's. What the caller got is printed: the line's position,
and `ok 0` or the error's name and number. At last, each number that the table does not have is called, with arguments that no
call takes; printed are 'MORE' and the numbers which the kernel does not answer with ENOSYS.

The last column of a line has up to three parts, between `##`: what has to be there before, the call, and what has to be cleared
up. A call is made by `sys`, `int80` or a `Ring`, or by Python where that does nothing else.
"""

import ctypes
import errno
import os
import signal
import socket
import struct
import sys as system
import time

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "/coverage-begin-", "/coverage-end-"
# Behind it the numbers of x32 begin.
NUMBERS_MAX = 511
MAP_32BIT = 0x40
# An ELF file for x86-64 that ends with status 0 and loads nothing.
CODE = bytes.fromhex("b83c00000031ff0f05")
ELF = (
    b"\x7fELF\x02\x01\x01" + bytes(9)
    + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(CODE), 120 + len(CODE), 4096)
    + CODE
)
# mov eax, 58 (vfork); syscall; test eax, eax; jnz +9; mov eax, 60 (exit); xor edi, edi; syscall; ret
VFORK = bytes.fromhex("b83a0000000f0585c07509b83c00000031ff0f05c3")
# push rbx; mov eax, edi; mov ebx, esi; mov r9d, edx; mov edx, ecx; mov ecx, r9d; mov esi, r8d; xor edi, edi; int 0x80;
# pop rbx; ret
INT_80 = bytes.fromhex("5389f889f34189d189ca4489c94489c631ffcd805bc3")
kept = []


def sys(number, *arguments):
    """Makes a call."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def int80(number, *arguments):
    """Makes a call as 32-bit programs do."""
    code = memory()
    ctypes.memmove(code, INT_80, len(INT_80))
    words = [each & 0xffffffff for each in (number, *arguments, 0, 0, 0, 0)[:5]]
    result = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_uint] * 5)(code)(*words)
    if -4096 < result < 0:
        raise OSError(-result, "")
    return result


def at80(value):
    """Where a copy of some octets is, for a 32-bit program."""
    place = memory(flags=34 | MAP_32BIT)
    ctypes.memmove(place, bytes(value) + b"\0", len(value) + 1)
    return place


def octets(value):
    kept.append(ctypes.create_string_buffer(bytes(value), max(len(value), 256)))
    return kept[-1]


def q(*words):
    return octets(struct.pack(f"<{len(words)}Q", *(each & (1 << 64) - 1 for each in words)))


def i(*words):
    return octets(struct.pack(f"<{len(words)}I", *(each & 0xffffffff for each in words)))


def at(buffer):
    return ctypes.addressof(buffer)


def word(buffer):
    return int.from_bytes(buffer[:8], "little")


def strings(*each):
    array = (ctypes.c_char_p * (len(each) + 1))(*each, None)
    kept.append(array)
    return array


def address(port):
    return octets(struct.pack("<H", 2) + struct.pack(">H", port) + bytes([127, 0, 0, 1]) + bytes(8))


def message(data, port=None):
    """A struct mmsghdr, and with it a struct msghdr."""
    where = address(port) if port else None
    vector = q(at(data), 8)
    return q(at(where) if where else 0, 16 if where else 0, at(vector), 1, 0, 0, 0, 0)


def signal_info(number):
    return i(number, 0, -1)


def udp():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    return made


def listener():
    made = socket.create_server(("127.0.0.1", 0))
    return made


def unix(kind=socket.SOCK_STREAM):
    return socket.socket(socket.AF_UNIX, kind)


def aside(act):
    """Does something in another process, whose events are not the call's."""
    pid = os.fork()
    if pid == 0:
        act()
        os._exit(0)
    os.waitpid(pid, 0)


def child():
    """A process that waits, and ends with its parent."""
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)
        while os.getppid() == parent:
            signal.pause()
        os._exit(0)
    return pid


def own_namespaces():
    """Becomes root in namespaces of its own, with all capabilities there."""
    sys(272, 0x10000000 | 0x20000 | 0x04000000)
    for name, text in (("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1")):
        with open("/proc/self/" + name, "w", encoding="ascii") as file:
            file.write(text)


def interrupted():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)


def memory(flags=34):
    return sys(9, 0, 8192, 7, flags, -1, 0)


def vfork():
    place = memory()
    ctypes.memmove(place, VFORK, len(VFORK))
    if ctypes.CFUNCTYPE(ctypes.c_int)(place)() < 0:
        raise OSError(errno.EAGAIN, "")


class Ring:
    """Of io_uring, for one operation."""

    def __init__(self):
        told = octets(bytes(120))
        self.fd = sys(425, 1, told)
        offsets = struct.unpack("<30I", told[:120])
        self.tail, self.array, self.results = offsets[11], offsets[16], offsets[25]
        self.rings = sys(9, 0, 4096, 3, 1, self.fd, 0)
        self.entry = sys(9, 0, 4096, 3, 1, self.fd, 0x10000000)

    def submit(self, operation, fd, where=0, length=0, second=0, flags=0, third=0):
        """Has it done, and waits for it. The names are those of most operations in a struct io_uring_sqe: addr, len, off, and
        addr3 at last."""
        entry = struct.pack("<BBHiQQIIQHHIQQ", operation, 0, 0, fd, second, where, length & 0xffffffff, flags, 0, 0, 0, 0, third, 0)
        ctypes.memmove(self.entry, entry, 64)
        ctypes.memmove(self.rings + self.array, struct.pack("<I", 0), 4)
        ctypes.memmove(self.rings + self.tail, struct.pack("<I", 1), 4)
        sys(426, self.fd, 1, 1, 1, 0, 0)
        _, result, _ = struct.unpack("<QiI", ctypes.string_at(self.rings + self.results, 16))
        if result < 0:
            raise OSError(-result, "")
        return result


def text(value):
    """Where a name is."""
    return at(octets(value + b"\0"))


def forked(pid):
    """In the child of a call that forks, ends it; in the parent, waits for that."""
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def mark(path):
    try:
        os.open(path, os.O_RDONLY)
    except OSError:
        pass


def make(position, call, names):
    before, call, after = ([part.strip() for part in call.split("##")] + [""])[:3] if "##" in call else ("", call, "")
    said = "ok 0"
    exec(before, names)
    call = compile(call, "call", "exec")
    mark(f"{BEGIN}{position}")
    try:
        exec(call, names)
    except OSError as failure:
        said = f"{errno.errorcode.get(failure.errno, '?')} {failure.errno}"
    mark(f"{END}{position}")
    exec(after, names)
    return said


def run(position, call, names):
    """Makes the call of a line in a process of its own. Where that does not come back from it, it was `ok 0`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = "no call"
        try:
            own = str(position).encode()
            names.update(NEW=names["NEW"] + own, QUEUE=b"coverage" + own)
            said = make(position, call, names)
        except BaseException as failure:
            said = f"{type(failure).__name__} {failure}".replace("\n", " ")
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 4096).decode() or "ok 0"
    os.close(reading)
    os.waitpid(pid, 0)
    return said


def prepare():
    folder = b"/tmp/coverage"
    for each in (folder, folder + b"/folder"):
        os.mkdir(each)
    names = {name: value for name, value in globals().items() if not name.startswith("__")}
    names.update(FOLDER=folder + b"/folder", NEW=folder + b"/new", MISSING=folder + b"/missing", SHM=b"/dev/shm/coverage")
    names.update(FILE=folder + b"/file", SECRET=folder + b"/secret", EXIT=folder + b"/exit")
    files = (("FILE", 0o644, bytes(4096)), ("SECRET", 0o600, b""), ("SHM", 0o644, b"x"), ("EXIT", 0o755, ELF))
    for name, mode, content in files:
        with open(names[name], "wb") as file:
            file.write(content)
        os.chmod(names[name], mode)
    names["f"] = os.open(names["FILE"], os.O_RDWR)
    names["d"] = os.open(names["FOLDER"], os.O_RDONLY | os.O_DIRECTORY)
    names["b"] = ctypes.create_string_buffer(65536)
    names["server"] = listener()
    names["PORT"] = names["server"].getsockname()[1]
    names["unix_server"] = unix()
    names["unix_server"].bind(folder + b"/socket")
    names["unix_server"].listen()
    names["UNIX"] = octets(struct.pack("<H", 1) + folder + b"/socket")
    return names


def more(known):
    """The numbers of calls that the kernel has and the table does not."""
    there = []
    for number in range(NUMBERS_MAX + 1):
        if number not in known:
            try:
                sys(number, -1, -1, -1, -1, -1, -1)
                there.append(number)
            except OSError as failure:
                if failure.errno != errno.ENOSYS:
                    there.append(number)
    return there


def main():
    began = time.monotonic()
    with open(os.path.join(HERE, "system-calls.tsv"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    names = prepare()
    for position, line in enumerate(lines):
        print(position, run(position, line[5], names), flush=True)
    known = {int(line[0]) for line in lines if line[0].isdigit()}
    print("MORE", *more(known))
    print(f"{time.monotonic() - began:.1f} s", file=system.stderr)


if __name__ == "__main__":
    main()
