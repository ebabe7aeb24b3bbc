"""Takes what is in a ring that is made of plain memory, in one piece and across its end. Its argument: where kernel.py is."""

import ctypes
import os
import sys

sys.path.insert(0, sys.argv[1])
import kernel

SIZE = 4096


def ring(begin, octets):
    """A ring whose consumer is at `begin`, with these octets behind it, wherever that is in the buffer."""
    made = object.__new__(kernel.Ring)
    made.size, made.mask = SIZE, SIZE - 1
    made.pages = (ctypes.c_uint8 * SIZE)()
    made.data = ctypes.addressof(made.pages)
    made.consumer, made.producer = ctypes.c_uint64(begin), ctypes.c_uint64(begin + len(octets))
    for i, octet in enumerate(octets):
        made.pages[(begin + i) & made.mask] = octet
    return made


def drained(made):
    out, into = os.pipe()
    made.drain(into)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        return file.read()


for begin in (0, 8, SIZE - 8, SIZE, 7 * SIZE - 1600, (1 << 40) + SIZE - 24):
    for length in (0, 8, 16, 24, 1600, SIZE - 8, SIZE):
        octets = os.urandom(length)
        for taken in (drained, lambda made: made.take()):
            made = ring(begin, octets)
            assert taken(made) == octets, (begin, length)
            assert made.consumer.value == begin + length, (begin, length)
            assert taken(made) == b"", (begin, length)
print("taken whole")
