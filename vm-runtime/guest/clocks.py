"""This machine's clocks: what they show, and how the host leads them. None is ever set back."""

import ctypes
import struct
import time

import boot

ADJ_OFFSET, ADJ_STATUS, ADJ_TIMECONST, ADJ_NANO, ADJ_TICK = 0x1, 0x10, 0x20, 0x2000, 0x4000
STA_PLL, STA_UNSYNC, STA_FREQHOLD = 0x1, 0x40, 0x80
STEP_NS_MIN = 2_000_000


def boottime_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def set_forward(wall_ns):
    """Sets the wall clock to this time if it is behind that by more than a step is worth. Returns what it showed before,
    and by how much it was set forward."""
    now = time.time_ns()
    ahead = wall_ns - now
    forward = ahead if ahead >= STEP_NS_MIN else 0
    if forward:
        try:
            time.clock_settime_ns(time.CLOCK_REALTIME, wall_ns)
        except OSError:
            forward = 0  # no time that this kernel can show
    return now, forward


def set_pace(tick_us, ahead_ms):
    """adjtimex(2): by how many microseconds this machine's clocks go on in a tick, of which there are a hundred a second;
    9,000 to 10,000, of which the latter is the host's pace. By how many milliseconds they are ahead besides, 0 to 500: the
    kernel takes a quarter of that out of the second that begins next, and of what is left out of the one after it."""
    if not 9_000 <= tick_us <= 10_000:
        raise ValueError(f"no tick of {tick_us} us")
    if not 0 <= ahead_ms <= 500:
        raise ValueError(f"no clock that is {ahead_ms} ms ahead")
    if ahead_ms:
        # The frequency is held, and nothing is written to the machine's own clock.
        adjust(
            ADJ_TICK | ADJ_OFFSET | ADJ_STATUS | ADJ_TIMECONST | ADJ_NANO,
            offset=-ahead_ms * 1_000_000,
            status=STA_PLL | STA_FREQHOLD | STA_UNSYNC,
            tick=tick_us,
        )
    elif adjusted_status() & STA_PLL:
        # As it was when the machine was started: programs can read this. Without ADJ_NANO, 4 is added to a constant; that
        # unit goes with the loop.
        adjust(ADJ_TICK | ADJ_OFFSET | ADJ_TIMECONST | ADJ_NANO, constant=2, tick=tick_us)
        adjust(ADJ_STATUS, status=STA_UNSYNC)
    else:
        adjust(ADJ_TICK, tick=tick_us)


def adjusted_status():
    return struct.unpack_from("<i", adjust(0), 40)[0]


def adjust(modes, offset=0, status=0, constant=0, tick=0):
    """adjtimex(2); returns the struct timex."""
    timex = bytearray(208)
    struct.pack_into("<I", timex, 0, modes)
    struct.pack_into("<q", timex, 8, offset)
    struct.pack_into("<i", timex, 40, status)
    struct.pack_into("<q", timex, 48, constant)
    struct.pack_into("<q", timex, 88, tick)
    if boot.LIBC.adjtimex((ctypes.c_char * len(timex)).from_buffer(timex)) < 0:
        boot.check(-1, "adjtimex")
    return timex
