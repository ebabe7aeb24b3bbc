"""A workload of files and executions; prints for each how long the processor was busy, in seconds, with the workload or with
what watches it. Waiting does not count, and what a watcher does late does."""

import os
import time

FILES, EXECS = 4000, 200
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


def busy():
    """How long processes have run. A process is added when the processor leaves it, so wait first."""
    time.sleep(0.5)
    with open("/proc/schedstat") as stat:
        return sum(int(line.split()[7]) for line in stat if line.startswith("cpu")) / 1e9


settle()
for work in (files, execs):
    began = busy()
    work()
    print("%.6f" % (busy() - began), flush=True)
