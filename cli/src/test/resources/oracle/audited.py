"""Work as agents do it, for the audit subsystem to witness: a package is installed, a repository is used, make runs twenty
jobs, and Python uses files, processes, sockets and other users' ids."""

import os
import socket
import struct
import subprocess
import sys
import threading

LOGINUID = "4711"
WORK = "/workspace/work"
NOBODY = 65534


def run(*argv, **more):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, **more)


def package():
    os.makedirs("package/DEBIAN")
    os.makedirs("package/opt/audited/share")
    control = "Package: audited\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: audited\n"
    for name, content, mode in (
        ("DEBIAN/control", control, 0o644),
        ("DEBIAN/postinst", "#!/bin/sh\nset -e\nln -sf run /opt/audited/link\nchmod 750 /opt/audited/share\n", 0o755),
        ("DEBIAN/prerm", "#!/bin/sh\nset -e\nrm -f /opt/audited/link\n", 0o755),
        ("opt/audited/run", "#!/bin/sh\n:\n", 0o755),
        ("opt/audited/share/some text", "text\n", 0o644),
    ):
        with open(f"package/{name}", "w") as file:
            file.write(content)
        os.chmod(f"package/{name}", mode)
    run("dpkg-deb", "--build", "--root-owner-group", "package", "audited.deb")
    run("dpkg", "-i", "audited.deb")
    run("dpkg", "-r", "audited")


def repository():
    os.mkdir("repository")
    os.chdir("repository")
    names = {f"GIT_{who}_{what}": f"nobody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    os.environ.update(names)

    def git(*argv):
        run("git", "-c", "init.defaultBranch=main", *argv, stderr=subprocess.DEVNULL)

    def commit(name):
        with open(name, "w") as file:
            file.write(name)
        git("add", name)
        git("commit", "-q", "-m", name)

    git("init", "-q")
    commit("a")
    git("checkout", "-q", "-b", "side")
    commit("b")
    git("checkout", "-q", "main")
    commit("c")
    git("merge", "-q", "--no-edit", "side")
    git("gc", "-q")
    os.chdir(WORK)


def jobs():
    with open("Makefile", "w") as file:
        targets = " ".join(f"t{i}" for i in range(20))
        file.write(f"all: {targets}\n\t@cat {targets} > all\n")
        file.write("t%:\n\t@mkdir -p d; echo $@ > d/$@.part; mv d/$@.part $@\n")
    run("make", "-j", "20")


def files():
    os.makedirs("files/deep/er")
    here = os.open("files", os.O_RDONLY)
    for i in range(50):
        name = f"files/f{i}"
        with open(name, "w") as file:
            file.write("x" * i)
        os.chmod(name, 0o600)
        os.chown(name, 1000, 1000)
        os.link(name, f"files/deep/l{i}")
        os.symlink(f"../f{i}", f"files/deep/s{i}")
        with open(f"files/deep/s{i}") as file:
            file.read()
        os.rename(f"f{i}", f"deep/er/f{i}", src_dir_fd=here, dst_dir_fd=here)
        os.truncate(f"files/deep/er/f{i}", 3)
        os.utime(f"files/deep/er/f{i}", (i, i))
        os.unlink(f"deep/l{i}", dir_fd=here)
        os.mkdir(f"files/d{i}")
        os.rmdir(f"files/d{i}")
        attempt(os.open, f"files/none{i}", os.O_RDONLY)
        attempt(os.unlink, f"none{i}", dir_fd=here)
        attempt(os.mkdir, "files/deep")
        attempt(os.rename, "files/nothing", "files/something")
        attempt(os.rmdir, "files/deep")
        attempt(os.chmod, f"files/none{i}", 0o600)
    os.mkfifo("files/fifo")
    odd = b"files/\xff\xfe odd\n\"name"
    os.close(os.open(odd, os.O_WRONLY | os.O_CREAT))
    os.unlink(odd)
    os.close(here)


def processes():
    for i in range(20):
        run("sh", "-c", f"exit $(({i} - {i}))", "name with blanks", "", "\n\"quoted\"")
        child = os.fork()
        if child == 0:
            os.chdir("/tmp")
            attempt(os.execv, "/no/such/program", ["program"])
            os._exit(i)
        os.waitpid(child, 0)
    attempt(os.execv, "/etc/passwd", ["passwd"])
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        attempt(os.setuid, 0)
        attempt(os.setgid, 0)
        attempt(os.open, "/etc/shadow", os.O_RDONLY)
        attempt(os.mkdir, "/etc/mine")
        attempt(os.unlink, "/etc/passwd")
        attempt(os.chmod, "/etc/passwd", 0o666)
        attempt(os.chown, "/etc/passwd", NOBODY, NOBODY)
        os.execv("/bin/true", ["true", "as nobody"])
    os.waitpid(child, 0)
    threads = [threading.Thread(target=lambda n=n: os.close(os.open(f"t{n}", os.O_WRONLY | os.O_CREAT))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def sockets():
    for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, "socket")):
        with socket.socket(family) as server:
            server.bind(address)
            server.listen()
            for _ in range(10):
                with socket.socket(family) as client:
                    client.connect(server.getsockname())
                    server.accept()[0].close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
        datagram.connect(("127.0.0.1", 9))
    with socket.socket() as client:
        attempt(client.connect, ("127.0.0.1", 1))
    with socket.socket(socket.AF_UNIX) as client:
        attempt(client.connect, "no socket")


def attempt(what, *arguments, **more):
    try:
        what(*arguments, **more)
    except OSError:
        return
    raise AssertionError(f"{what} {arguments} did not fail")


def work():
    os.mkdir(WORK)
    os.chdir(WORK)
    for each in (package, repository, jobs, files, processes, sockets):
        each()


def main():
    os.mkfifo("/workspace/audit.end")
    child = os.fork()
    if child == 0:
        with open("/proc/self/loginuid", "w") as file:
            file.write(LOGINUID)
        os.execv(sys.executable, ["python3", __file__, "work"])
    assert os.waitpid(child, 0)[1] == 0, "the work failed"
    with open("/workspace/links", "wb") as links:
        # Afterwards: what paths mean that lead through them.
        subprocess.run(["find", "/", "-xdev", "-type", "l", "-printf", "%p\\0%l\\0"], stdout=links, check=True)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9) as audit:
        message = b"blackbox-end\0"
        audit.send(struct.pack("=IHHII", 16 + len(message), 1199, 5, 1, 0) + message)
        answer = struct.unpack_from("=i", audit.recv(8192), 16)[0]
        assert answer == 0, os.strerror(-answer)
    with open("/workspace/audit.end", "rb") as end:
        end.read()


work() if sys.argv[1:] == ["work"] else main()
