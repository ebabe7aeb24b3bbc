"""System calls the tracer needs and bcc 0.26 does not offer: running a BPF program, reading a map in bulk, the ring's pages."""

import ctypes
import functools
import os
import struct

SYS_BPF = 321
SYS_MEMBARRIER = 324
CMD_MAP_LOOKUP_ELEM = 1
CMD_MAP_UPDATE_ELEM = 2
CMD_PROG_LOAD = 5
CMD_PROG_TEST_RUN = 10
CMD_OBJ_GET_INFO_BY_FD = 15
CMD_RAW_TRACEPOINT_OPEN = 17
CMD_BTF_LOAD = 18
CMD_MAP_LOOKUP_BATCH = 24
RUN_ON_CPU = 1
MEMBARRIER_CMD_GLOBAL = 1
MCL_CURRENT, MCL_FUTURE = 1, 2
PROG_TYPE_RAW_TRACEPOINT, PROG_TYPE_TRACING = 17, 26
# What a tracing program is bound to: a function's begin, its end, or its answer.
FENTRY, FEXIT, MODIFY_RETURN = 24, 25, 26
INSTRUCTION_BYTES = 8
# The instruction that loads a number of 64 bits, in the room of two, and how it says that this is a function's address.
LOAD_IMMEDIATE, FUNCTION = 0x18, 4
FUNCTION_RECORD_BYTES = 8
VERIFIER_LOG_BYTES = 1 << 20
PROT_READ, PROT_WRITE, MAP_SHARED = 1, 2, 1
PAGE = os.sysconf("SC_PAGESIZE")
ENOENT = 2
# struct bpf_prog_info: length up to and with recursion_misses, and where that is.
PROG_INFO_BYTES, PROG_INFO_MISSES = 224, 208
# struct bpf_map_info: what is read of it.
MAP_INFO_BYTES = 24

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.write.restype = ctypes.c_ssize_t
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
libc.syscall.restype = ctypes.c_long


def failed():
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))


def stay_in_memory():
    """However little of it is left to others: a page that has to be read again is a wait."""
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE) < 0:
        raise failed()


def bpf(command, attributes):
    """The bpf(2) call; the attributes come back as the kernel left them."""
    buffer = ctypes.create_string_buffer(attributes, 128)
    result = libc.syscall(ctypes.c_long(SYS_BPF), ctypes.c_long(command), buffer, ctypes.c_long(len(attributes)))
    return result, buffer.raw


def immediates(instructions):
    """The numbers of 64 bits that a program loads: (where, what it stands for, its lower half, its upper half)."""
    opcodes = bytes(instructions[::INSTRUCTION_BYTES])
    place = opcodes.find(LOAD_IMMEDIATE)
    while place >= 0:
        at = place * INSTRUCTION_BYTES
        _, registers, _, low, _, high = struct.unpack_from("<BBhIII", instructions, at)
        yield at, registers >> 4, low, high
        place = opcodes.find(LOAD_IMMEDIATE, place + 2)


def functions(instructions):
    """Where the functions begin that a program calls by their address, in instructions; empty for most programs."""
    places = ((at // INSTRUCTION_BYTES, low) for at, kind, low, _ in immediates(instructions) if kind == FUNCTION)
    return sorted({place + distance + 1 for place, distance in places})


@functools.cache
def _function_types():
    """Type information as the verifier wants it of a program with functions: (descriptor, number of their type). All are
    `static int function()`."""
    names = b"\0int\0function\0"
    types = struct.pack("<4I", 1, 1 << 24, 4, 1 << 24 | 32)  # a signed int of 32 bits
    types += struct.pack("<3I", 0, 13 << 24, 1)  # what takes nothing and returns type 1
    types += struct.pack("<3I", 5, 12 << 24, 2)  # a static function of type 2
    whole = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(names)) + types + names
    octets = ctypes.create_string_buffer(whole, len(whole))
    result, _ = bpf(CMD_BTF_LOAD, struct.pack("<QQIIII", ctypes.addressof(octets), 0, len(whole), 0, 0, 0))
    if result < 0:
        raise failed()
    return result, 3


def load_tracing(name, instructions, bound, function):
    """Loads a program that is bound to a kernel function, by its number in the kernel's type information."""
    return _load(PROG_TYPE_TRACING, name, instructions, bound, function)


def load_raw_tracepoint(name, instructions):
    """Loads a program that takes raw arguments and has functions, of which bcc's library knows nothing."""
    return _load(PROG_TYPE_RAW_TRACEPOINT, name, instructions, 0, 0)


def _load(kind, name, instructions, bound, function):
    license, code = ctypes.create_string_buffer(b"Dual BSD/GPL"), ctypes.create_string_buffer(instructions, len(instructions))
    log = ctypes.create_string_buffer(b"", VERIFIER_LOG_BYTES)
    types, records = 0, b""
    if begins := functions(instructions):
        types, number = _function_types()
        records = b"".join(struct.pack("<II", begin, number) for begin in [0, *begins])
    info = ctypes.create_string_buffer(records, len(records))
    for level, length, place in ((0, 0, 0), (1, len(log), ctypes.addressof(log))):
        attributes = struct.pack(
            "<IIQQIIQII16sIIIIQI16xII4x",
            kind,
            len(instructions) // INSTRUCTION_BYTES,
            ctypes.addressof(code),
            ctypes.addressof(license),
            level,
            length,
            place,
            0,
            0,
            name.encode()[:15],
            0,
            bound,
            types,
            FUNCTION_RECORD_BYTES,
            ctypes.addressof(info),
            len(records) // FUNCTION_RECORD_BYTES,
            function,
            0,
        )
        result, _ = bpf(CMD_PROG_LOAD, attributes)
        if result >= 0:
            return result
    said = log.value.decode(errors="replace").strip()
    raise OSError(f"{failed()}: {said[-400:]}")


def attach_tracing(program):
    """Has a tracing program run from now on; returns the descriptor that keeps it so."""
    result, _ = bpf(CMD_RAW_TRACEPOINT_OPEN, struct.pack("<QI4x", 0, program))
    if result < 0:
        raise failed()
    return result


def run(program, *args, cpu=None):
    """Runs a raw tracepoint program with these arguments now, and returns its result."""
    words = (ctypes.c_uint64 * 12)(*args)
    flags, on = (0, 0) if cpu is None else (RUN_ON_CPU, cpu)
    attributes = struct.pack(
        "<IIIIQQIIIIQQIII4x", program, 0, 0, 0, 0, 0, 0, 0, ctypes.sizeof(words), 0, ctypes.addressof(words), 0, flags, on, 0
    )
    result, after = bpf(CMD_PROG_TEST_RUN, attributes)
    if result < 0:
        raise failed()
    return struct.unpack_from("<I", after, 4)[0]


def address(function):
    """Where the kernel has a function, 0 where it does not say. A replay stops there to be at one frame exactly."""
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        for line in symbols:
            place, kind, name = line.split()[:3]
            if name == function and kind in "tT":
                return int(place, 16)
    return 0


def element(array, index, length):
    """An element of a BPF array, as octets."""
    key, value = ctypes.c_uint32(index), ctypes.create_string_buffer(length)
    result, _ = bpf(CMD_MAP_LOOKUP_ELEM, _element(array, key, value))
    if result < 0:
        raise failed()
    return value.raw


def set_element(array, index, octets):
    """Sets an element of a BPF array."""
    key, value = ctypes.c_uint32(index), ctypes.create_string_buffer(octets, len(octets))
    result, _ = bpf(CMD_MAP_UPDATE_ELEM, _element(array, key, value))
    if result < 0:
        raise failed()


def _element(array, key, value):
    return struct.pack("<I4xQQQ", array, ctypes.addressof(key), ctypes.addressof(value), 0)


def map_form(map):
    """Its type, the octets of a key and of a value, how many entries it takes, and its flags."""
    info = ctypes.create_string_buffer(MAP_INFO_BYTES)
    result, _ = bpf(CMD_OBJ_GET_INFO_BY_FD, struct.pack("<IIQ", map, len(info), ctypes.addressof(info)))
    if result < 0:
        raise failed()
    kind, _, key, value, entries, flags = struct.unpack_from("<6I", info.raw)
    return {"type": kind, "key": key, "value": value, "entries": entries, "flags": flags}


def misses(program):
    """How often the kernel left out a run of the program, because it was running already on that CPU."""
    info = ctypes.create_string_buffer(PROG_INFO_BYTES)
    attributes = struct.pack("<IIQ", program, len(info), ctypes.addressof(info))
    result, _ = bpf(CMD_OBJ_GET_INFO_BY_FD, attributes)
    if result < 0:
        raise failed()
    return struct.unpack_from("<Q", info.raw, PROG_INFO_MISSES)[0]


class Said:
    """What libraries print on standard error from now on, until it is closed."""

    def __init__(self):
        self.kept, self.before = os.memfd_create("said"), os.dup(2)
        os.dup2(self.kept, 2)

    def last(self):
        """The end of it, which is then printed nowhere."""
        length = os.lseek(self.kept, 0, os.SEEK_END)
        end = os.pread(self.kept, 400, max(0, length - 400))
        os.ftruncate(self.kept, 0)
        os.lseek(self.kept, 0, os.SEEK_SET)
        return end.decode(errors="replace").strip()

    def close(self):
        os.dup2(self.before, 2)
        os.close(self.before)
        os.close(self.kept)


class HashMap:
    """Reads a BPF hash map a batch at a time."""

    BATCH = 1024

    def __init__(self, fd, key_bytes, value_bytes):
        self.fd, self.key_bytes, self.value_bytes = fd, key_bytes, value_bytes
        self.keys = ctypes.create_string_buffer(key_bytes * self.BATCH)
        self.values = ctypes.create_string_buffer(value_bytes * self.BATCH)

    def batches(self):
        """Yields (count, keys, values); the buffers are valid until the next one."""
        cursor, first = ctypes.create_string_buffer(16), True
        while True:
            attributes = struct.pack(
                "<QQQQIIQQ",
                0 if first else ctypes.addressof(cursor),
                ctypes.addressof(cursor),
                ctypes.addressof(self.keys),
                ctypes.addressof(self.values),
                self.BATCH,
                self.fd,
                0,
                0,
            )
            result, after = bpf(CMD_MAP_LOOKUP_BATCH, attributes)
            if result < 0 and ctypes.get_errno() != ENOENT:
                raise failed()
            count = struct.unpack_from("<I", after, 32)[0]
            if count:
                yield count, self.keys, self.values
            if result < 0 or not count:
                return
            first = False


class Ring:
    """The BPF ring buffer's pages: positions, and data. The kernel offers the data twice in a row, so that no span wraps;
    it is mapped once, because each page of it counts as this process's memory wherever it is mapped."""

    def __init__(self, fd, size):
        self.size, self.mask = size, size - 1
        self.consumer = self._position(self._map(fd, PAGE, PROT_READ | PROT_WRITE, 0))
        readable = self._map(fd, PAGE + size, PROT_READ, PAGE)
        self.producer = self._position(readable)
        self.data = readable + PAGE

    @staticmethod
    def _map(fd, size, access, offset):
        address = libc.mmap(None, size, access, MAP_SHARED, fd, offset)
        if address in (None, ctypes.c_void_p(-1).value):
            raise failed()
        return address

    @staticmethod
    def _position(address):
        # One aligned 8-byte load or store: the kernel never sees half a position.
        return ctypes.c_uint64.from_address(address)

    def spans(self):
        """(address, length) of what is complete and not consumed yet, in one piece or two: the second one begins where
        the data does. It is for whoever asks to move the consumer on before asking for the next."""
        for _ in range(2):
            end, begin = self.producer.value, self.consumer.value
            if end == begin:
                return
            # Every program that had reserved room before `end` was read has committed when this returns.
            libc.syscall(ctypes.c_long(SYS_MEMBARRIER), ctypes.c_long(MEMBARRIER_CMD_GLOBAL), ctypes.c_long(0), ctypes.c_long(0))
            at = begin & self.mask
            length = min(end - begin, self.size - at)
            yield self.data + at, length
            if at + length < self.size:
                return

    def drain(self, port):
        """Writes all that is complete to `port`, as it is. The ring always says what is not written yet, so that another
        process can go on there if this one ends."""
        for address, length in self.spans():
            begin, done = self.consumer.value, 0
            while done < length:
                written = libc.write(port, address + done, length - done)
                if written < 0:
                    raise failed()
                done += written
                self.consumer.value = begin + done

    def take(self):
        """What is complete, as bytes, and drops it from the ring."""
        taken = b""
        for address, length in self.spans():
            taken += ctypes.string_at(address, length)
            self.consumer.value += length
        return taken
