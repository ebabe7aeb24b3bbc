"""The BPF program in compiled form: what clang makes of the sources for one kernel.

Compiling takes most of a minute where the guest is emulated, so it is done once for an image, in a machine of its own
(vm-runtime's GuestCompiler starts this file there), and the result is put beside the sources in the image. It is used only
where sources and kernel are those that it says; elsewhere the program is compiled before it is loaded, as in that machine.

    {"kernel": release and build id, "sources": {name: SHA-256},
     "maps": [{"name": …, "type": …, "key": octets, "value": octets, "entries": …, "flags": …}],
     "programs": {name: base64},     where an instruction refers to a map, it has the map's place in `maps`
     "functions": {name: number}}    in the kernel's type information; those that the kernel does not have are left out
"""

import base64
import ctypes
import hashlib
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import kernel

KEPT = os.path.join(HERE, "compiled.json")
BYTES_MAX = 4 << 20
PARTS = [
    "tracer.c",
    "path.c",
    "random.c",
    "container.c",
    "process.c",
    "file.c",
    "change.c",
    "net.c",
    "privilege.c",
    "control.c",
]
RING_BYTES = 32 << 20
# How an instruction says that the number it loads stands for a map.
MAP_BY_DESCRIPTOR = 1
# The bodies of loops, by the number that stands for their address; see ROUNDS in tracer.c.
BODIES = {0x100706F6F6C: "loop__names", 0x200706F6F6C: "loop__values", 0x300706F6F6C: "loop__blocks"}
# On the disk to which the result goes, before it: magic, length and SHA-256.
HEADER = struct.Struct(">8sQ32s")
MAGIC = b"compiled"


def digests():
    """What ran here, by name."""
    found = {}
    for name in sorted(os.listdir(HERE)):
        if name.endswith((".c", ".py")):
            with open(os.path.join(HERE, name), "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def running_kernel():
    """Release and build id of the kernel that runs."""
    with open("/sys/kernel/notes", "rb") as file:
        return f"{os.uname().release} {hashlib.sha256(file.read()).hexdigest()}"


def kept():
    """What the image carries, with its SHA-256; None where it has none that fits."""
    try:
        with open(KEPT, "rb") as file:
            octets = file.read(BYTES_MAX)
        found = json.loads(octets)
    except (FileNotFoundError, ValueError):
        return None
    if found.get("kernel") != running_kernel() or found.get("sources") != digests():
        return None
    return found | {"sha256": hashlib.sha256(octets).hexdigest()}


def compile(targets):
    """Compiles the sources for the kernel that runs.

    `targets` gives, for the names of the programs, the kernel functions whose numbers are wanted."""
    from bcc import BPF, lib  # takes a second under emulation

    import offsets

    types = offsets.load()
    flags = [f"-DRING_PAGES={RING_BYTES // 4096}", "-w"]
    for question, *parameters in (("bpf_num_tables",), ("bpf_table_fd_id", ctypes.c_size_t), ("bpf_table_name", ctypes.c_size_t)):
        getattr(lib, question).argtypes = [ctypes.c_void_p, *parameters]
    lib.bpf_table_name.restype = ctypes.c_char_p
    unattached = type("Unattached", (BPF,), {"_trace_autoload": lambda _: None})
    with unattached(text=_source(offsets.header(types)), cflags=flags) as bpf:
        maps = range(lib.bpf_num_tables(bpf.module))
        descriptors = [lib.bpf_table_fd_id(bpf.module, i) for i in maps]
        names = [lib.bpf_function_name(bpf.module, i).decode() for i in range(lib.bpf_num_functions(bpf.module))]
        code = {name: bpf.dump_func(name.encode()) for name in names}
        bodies = {number: code.pop(name) for number, name in BODIES.items()}
        return {
            "kernel": running_kernel(),
            "sources": digests(),
            "maps": [
                {"name": lib.bpf_table_name(bpf.module, i).decode()} | kernel.map_form(descriptors[i]) for i in maps
            ],
            "programs": {name: _portable(_linked(octets, bodies), descriptors) for name, octets in code.items()},
            "functions": types.functions_named(targets(code)),
        }


def _source(text):
    for part in PARTS:
        with open(os.path.join(HERE, part), encoding="utf-8") as file:
            text += f'#line 1 "{part}"\n' + file.read()
    return text


def _portable(octets, descriptors):
    places = {fd: place for place, fd in enumerate(descriptors)}
    return base64.b64encode(_with_maps(octets, places)).decode()


def instructions(program, descriptors):
    """A program of the compiled form as the kernel takes it, given the descriptors of the maps."""
    return _with_maps(base64.b64decode(program), dict(enumerate(descriptors)))


def _with_maps(octets, names):
    """Names the maps otherwise to which a program refers."""
    changed = bytearray(octets)
    for at, kind, operand, _ in kernel.immediates(octets):
        if kind == MAP_BY_DESCRIPTOR:
            struct.pack_into("<i", changed, at + 4, names[operand])
    return bytes(changed)


def _linked(octets, bodies):
    """A program with the bodies of its loops behind it, each once, and their addresses where it names them."""
    whole, begins = bytearray(octets), {}
    for at, kind, low, high in kernel.immediates(octets):
        number = high << 32 | low
        if kind != 0 or number not in bodies:
            continue
        if number not in begins:
            begins[number] = len(whole)
            whole += bodies[number]
        register = whole[at + 1] & 0xF
        distance = (begins[number] - at) // kernel.INSTRUCTION_BYTES - 1
        struct.pack_into("<BBhiBBhi", whole, at, kernel.LOAD_IMMEDIATE, kernel.FUNCTION << 4 | register, 0, distance, 0, 0, 0, 0)
    return bytes(whole)


def main():
    import load

    octets = json.dumps(compile(load.targets), sort_keys=True).encode()
    with open(sys.argv[1], "r+b") as disk:
        # The header last: where it is, the rest is.
        disk.seek(HEADER.size)
        disk.write(octets)
        disk.flush()
        os.fsync(disk.fileno())
        disk.seek(0)
        disk.write(HEADER.pack(MAGIC, len(octets), hashlib.sha256(octets).digest()))
        disk.flush()
        os.fsync(disk.fileno())


if __name__ == "__main__":
    main()
