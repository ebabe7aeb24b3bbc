"""Tries, as root, to end the tracer."""

import os
import signal

for name in os.listdir("/proc"):
    if name.isdigit():
        with open(f"/proc/{name}/cmdline", "rb") as file:
            if b"tracer.py" in file.read():
                try:
                    os.kill(int(name), signal.SIGKILL)
                    print("killed it")
                except OSError as error:
                    print(error)
