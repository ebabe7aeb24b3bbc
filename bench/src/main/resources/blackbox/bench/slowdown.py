"""A workload of files and executions that times itself; prints two figures, in seconds."""

import os
import time

FILES, EXECS = 4000, 60
os.makedirs("/workspace/slow", exist_ok=True)
os.chdir("/workspace/slow")


def files():
    for i in range(FILES):
        fd = os.open("f%d" % (i % 50), os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(4):
            os.write(fd, b"x" * 64)
        os.pread(fd, 64, 0)
        os.close(fd)
        if i % 5 == 0:
            os.rename("f%d" % (i % 50), "g")
            os.unlink("g")


def execs():
    for _ in range(EXECS):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def settle():
    """Waits for the kernel thread that still writes to the new file system of a guest that has just booted."""
    for _ in range(120):
        if "ext4lazyinit\n" not in (name_of(pid) for pid in os.listdir("/proc") if pid.isdigit()):
            return
        time.sleep(0.5)


def name_of(pid):
    try:
        with open("/proc/%s/comm" % pid) as comm:
            return comm.read()
    except OSError:
        return None  # it has ended


settle()
for work in (files, execs):
    began = time.monotonic()
    work()
    print("%.6f" % (time.monotonic() - began), flush=True)
