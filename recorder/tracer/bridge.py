"""The part of bcc's library that makes maps and loads programs: the small one, without the compiler."""

import ctypes
import os

RAW_TRACEPOINT = 17
LICENSE = b"Dual BSD/GPL"

bcc = ctypes.CDLL("libbcc_bpf.so.0", use_errno=True)
bcc.bcc_create_map.argtypes = [ctypes.c_int, ctypes.c_char_p] + [ctypes.c_int] * 4
bcc.bcc_prog_load.argtypes = [
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_uint,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_uint,
]
bcc.bpf_attach_raw_tracepoint.argtypes = [ctypes.c_int, ctypes.c_char_p]


def checked(descriptor):
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return descriptor


def make_map(form):
    """A map of this form (see compiled.py)."""
    sizes = (form[each] for each in ("key", "value", "entries", "flags"))
    return checked(bcc.bcc_create_map(form["type"], form["name"].encode(), *sizes))


def load(name, instructions):
    """Loads a program that takes raw arguments. What the verifier has to say is printed on standard error."""
    return checked(bcc.bcc_prog_load(RAW_TRACEPOINT, name.encode(), instructions, len(instructions), LICENSE, 0, 0, None, 0))


def attach_raw_tracepoint(program, name):
    """Has it run at a tracepoint; returns the descriptor that keeps it so."""
    return checked(bcc.bpf_attach_raw_tracepoint(program, name.encode()))
