"""What the oracle compares: executions, opens, renames, unlinks and connections, many ways each.

The argument is the number of executions; of opens there are ten times as many.
"""

import ctypes
import os
import socket
import subprocess
import sys
import threading

EXECS = int(sys.argv[1])
OPENS = 10 * EXECS
os.makedirs("/workspace/files/deep/er/still")
os.chdir("/workspace/files")
here = os.open(".", os.O_RDONLY)
libc = ctypes.CDLL(None)


def opens():
    for i in range(OPENS // 4):
        os.close(os.open("a", os.O_RDWR | os.O_CREAT, 0o600))
        os.close(os.open("/workspace/files/b", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.close(os.open("deep/er/c", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600, dir_fd=here))
        os.close(os.open("/etc/passwd", os.O_RDONLY))


def names():
    for i in range(EXECS // 4):
        with open("name%d" % i, "w") as file:
            file.write("x")
        os.rename("name%d" % i, "/workspace/files/deep/name%d" % i)
        os.rename("deep/name%d" % i, "deep/er/still/n%d" % i, src_dir_fd=here, dst_dir_fd=here)
        os.unlink("deep/er/still/n%d" % i) if i % 2 else os.unlink("deep/er/still/n%d" % i, dir_fd=here)
    for i in range(50):
        os.mkdir("d%d" % i)
        os.rmdir("d%d" % i)
    odd = b"\xff\xfe odd\nname"
    os.close(os.open(odd, os.O_WRONLY | os.O_CREAT, 0o600))
    os.rename(odd, odd + b"2")
    os.unlink(odd + b"2")
    long = "l" * 255
    os.close(os.open(long, os.O_WRONLY | os.O_CREAT, 0o600))
    os.unlink(long)
    for missing in ("nowhere", "deep/nowhere"):
        try:
            os.unlink(missing)
        except OSError:
            pass


def connects():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    local = socket.socket(socket.AF_UNIX)
    local.bind("/workspace/files/socket")
    local.listen(64)
    for i in range(EXECS // 20):
        for family, server, address in (
            (socket.AF_INET, listener, listener.getsockname()),
            (socket.AF_UNIX, local, "/workspace/files/socket"),
        ):
            with socket.socket(family) as client:
                client.connect(address)
                client.send(b"x")
                peer, _ = server.accept()
                peer.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
        datagram.connect(("127.0.0.1", 9))


def execs():
    for i in range(EXECS - 20):
        pid = os.posix_spawn("/bin/true", ["true", str(i)], {"N": str(i)})
        os.waitpid(pid, 0)
    for i in range(10):
        pid = os.fork()
        if pid == 0:
            os.execv("/bin/true", [b"true", b"\xff\xfe\n", b"", b"x" * (i * 300)])
        os.waitpid(pid, 0)
    for i in range(10):
        subprocess.run("echo %d > out%d" % (i, i), shell=True, check=True)


def threaded():
    threads = [threading.Thread(target=lambda n=n: os.close(os.open("t%d" % n, os.O_WRONLY | os.O_CREAT, 0o600))) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


opens()
names()
connects()
threaded()
execs()
