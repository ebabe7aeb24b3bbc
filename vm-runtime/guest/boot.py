"""Brings the machine up: mounts, names, network, virtio ports; and shuts doors behind itself."""

import ctypes
import fcntl
import os
import socket
import stat
import struct

LIBC = ctypes.CDLL(None, use_errno=True)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 32, 4096, 8192, 16384, 1 << 18
MNT_DETACH = 2

MCL_CURRENT, MCL_FUTURE = 1, 2
SYS_PIDFD_GETFD = 438

PORTS = "/dev/virtio-ports"
PRIVATE = "/run/blackbox/private"
# Where initrd.sh leaves what becomes the agent's root.
AGENTS_ROOT = "/mnt"

# Device nodes that lead around the file system, by prefix: disks, virtio ports, memory, logs, unused terminals.
DOORS = ("vd", "vport", "mem", "port", "kmsg", "loop", "nvram", "hwrng", "ttyS", "vcs", "snapshot", "userfaultfd", "rtc", "hpet", "console")
DOORS += tuple(f"tty{digit}" for digit in range(10))


def check(result, what):
    if result != 0:
        errno = ctypes.get_errno()
        raise OSError(errno, f"{what}: {os.strerror(errno)}")


def mount(source, target, kind, flags=0, data=None):
    check(
        LIBC.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            data.encode() if data else None,
        ),
        f"mount {target}",
    )


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def mounts():
    os.makedirs("/dev/pts", exist_ok=True)
    os.makedirs("/dev/shm", exist_ok=True)
    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "mode=620,ptmxmode=666")
    mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    # With delegation, who mounts it again in a namespace of users cannot write the limits of the group that it is in.
    mount("cgroup", "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, "nsdelegate")
    mount("bpf", "/sys/fs/bpf", "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=700")
    mount("debugfs", "/sys/kernel/debug", "debugfs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("tracefs", "/sys/kernel/tracing", "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name, target in (("fd", "self/fd"), ("stdin", "self/fd/0"), ("stdout", "self/fd/1"), ("stderr", "self/fd/2")):
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(f"/proc/{target}", f"/dev/{name}")


def precede():
    """This process and what it starts live on when memory runs out, and run before the agent; see `agent._give_way`. Its
    own pages stay in memory."""
    write("/proc/self/oom_score_adj", "-1000")
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    check(LIBC.mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall")


def pidfd_getfd(pidfd, fd):
    """A copy of another process's descriptor."""
    copy = LIBC.syscall(ctypes.c_long(SYS_PIDFD_GETFD), ctypes.c_long(pidfd), ctypes.c_long(fd), ctypes.c_long(0))
    if copy < 0:
        check(-1, "pidfd_getfd")
    return copy


def names():
    with open("/etc/hostname", encoding="ascii") as file:
        socket.sethostname(file.read().strip())


def _inet(text):
    return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))


def _interface(sock, name, address, mask):
    request = name.encode().ljust(16, b"\0")
    if address:
        fcntl.ioctl(sock, 0x8916, request + _inet(address))  # SIOCSIFADDR
        fcntl.ioctl(sock, 0x891C, request + _inet(mask))  # SIOCSIFNETMASK
    fcntl.ioctl(sock, 0x8914, request + struct.pack("H14x", 0x1043))  # SIOCSIFFLAGS: UP, RUNNING, MULTICAST


def network():
    """QEMU's user network has fixed addresses, so nothing is asked for over DHCP or router advertisements."""
    for key, value in (("accept_ra", "0"), ("autoconf", "0"), ("accept_dad", "0"), ("addr_gen_mode", "1")):
        for scope in ("default", "eth0"):
            path = f"/proc/sys/net/ipv6/conf/{scope}/{key}"
            if os.path.exists(path):
                write(path, value)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        _interface(sock, "lo", "127.0.0.1", "255.0.0.0")
        _interface(sock, "eth0", "10.0.2.15", "255.255.255.0")
        # struct rtentry: destination, gateway, mask, then RTF_UP | RTF_GATEWAY and fields that stay zero.
        route = bytes(8) + _inet("0.0.0.0") + _inet("10.0.2.2") + _inet("0.0.0.0")
        route += struct.pack("HhQPhPQQH6x", 0x3, 0, 0, 0, 0, 0, 0, 0, 0)
        fcntl.ioctl(sock, 0x890B, route)  # SIOCADDRT
    _network6()


def _network6():
    """The site-local prefix of QEMU's user network; IPv4 stays preferred because of its precedence (RFC 6724)."""
    index = socket.if_nametoindex("eth0")
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        address = socket.inet_pton(socket.AF_INET6, "fec0::15")
        fcntl.ioctl(sock, 0x8916, address + struct.pack("Ii", 64, index))
        gateway = socket.inet_pton(socket.AF_INET6, "fec0::2")
        route = bytes(16) + bytes(16) + gateway + struct.pack("IHHIQIi", 0, 0, 0, 1, 0, 0x3, index)
        fcntl.ioctl(sock, 0x890B, route)


def ports():
    """Gives the virtio ports their names; there is no udev here."""
    os.makedirs(PORTS, exist_ok=True)
    for port in os.listdir("/sys/class/virtio-ports"):
        with open(f"/sys/class/virtio-ports/{port}/name", encoding="ascii") as file:
            link = f"{PORTS}/{file.read().strip()}"
        if not os.path.lexists(link):
            os.symlink(f"/dev/{port}", link)


def hide_events_port():
    """Gives the tracer a node of its port where no agent can see it, and returns its path; see `Agent.prepare`."""
    os.makedirs(PRIVATE, 0o700, exist_ok=True)
    mount("private", PRIVATE, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=700,size=64k")
    path = f"{PRIVATE}/events"
    os.mknod(path, stat.S_IFCHR | 0o600, os.stat(f"{PORTS}/blackbox.events").st_rdev)
    return path


def forbid():
    """Before the tracer looks: no more modules, and nothing of the kernel's to read for others than root."""
    write("/proc/sys/kernel/modules_disabled", "1")
    # Nor is anything executed that would load one; it would be a file that the agent can replace.
    write("/proc/sys/kernel/modprobe", "\n")
    write("/proc/sys/kernel/kptr_restrict", "1")
    write("/proc/sys/kernel/dmesg_restrict", "1")
    write("/proc/sys/kernel/unprivileged_bpf_disabled", "2")
    write("/proc/sys/kernel/perf_event_paranoid", "3")


def shut_doors():
    """Removes the device nodes that lead around the file system.

    What we need stays open in this process; the agent cannot make the nodes anew, for CAP_MKNOD is not in its
    bounding set.
    """
    for name in os.listdir("/dev"):
        if name.startswith(DOORS):
            os.unlink(f"/dev/{name}")
    for name in os.listdir(PORTS):
        os.unlink(f"{PORTS}/{name}")
    os.rmdir(PORTS)
