"""The agent's process: how it is confined, started and ended."""

import fcntl
import os
import pwd
import signal
import stat
import termios
import time

import boot
import trust

CGROUPS = "/sys/fs/cgroup"
CGROUP = f"{CGROUPS}/agent"
RESERVED = "/sys/fs/ext4/vdb/reserved_clusters"
# Of the memory, and of the threads that there can be: for what runs and watches the agent.
KEPT_BYTES = 64 << 20
KEPT_THREADS = 512
FREEZE_S_MAX = 0.5
CLONE_NEWNS = 0x00020000
PR_CAPBSET_DROP = 24
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

# What an agent that runs as root may still do: own files, other users, raw and privileged sockets. Not here, and so
# out of reach for everything it starts: SYS_ADMIN, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_BOOT, SYS_TIME, BPF,
# PERFMON, MKNOD, MAC_*, SYSLOG, NET_ADMIN and the rest.
KEPT_CAPABILITIES = {
    0,  # CHOWN
    1,  # DAC_OVERRIDE
    3,  # FOWNER
    4,  # FSETID
    5,  # KILL
    6,  # SETGID
    7,  # SETUID
    8,  # SETPCAP
    10,  # NET_BIND_SERVICE
    13,  # NET_RAW
    18,  # SYS_CHROOT
    29,  # AUDIT_WRITE
    31,  # SETFCAP
}

# Variables that the image's definition gives the agent, `NAME=value`, each ended by a NUL.
VARIABLES = "/etc/blackbox/environment"

# Shown read-only to the agent, for a root without capabilities still owns these files (core_pattern, uevent_helper,
# sysrq-trigger …). The bind of /sys leaves its submounts behind: no cgroup tree, tracefs, debugfs or bpffs.
READ_ONLY = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/sys")
HIDDEN = "/run/blackbox"


class Agent:
    """One run of the agent. `pid` is None until it has been started. `root` is where its root directory is for this process,
    "/" if both have the same."""

    def __init__(self, root):
        self.root = root
        self.pid = None
        self.cgroup_id = 0
        self.namespace = -1
        self.mounts = {}  # as they are before the agent runs: by them the host knows which file a path leads to
        self.killed = False
        self.trusts = False
        self.variables = _variables()

    def prepare(self):
        """Makes the agent's control group and its view of the file system; none of it is left to do at its start."""
        os.makedirs(CGROUP, exist_ok=True)
        # As a group the agent has the weight of one process, however many it starts.
        boot.write(f"{CGROUPS}/cgroup.subtree_control", "+cpu +memory +pids")
        self.cgroup_id = os.stat(CGROUP).st_ino
        ready, done = os.pipe()
        holder = os.fork()
        if holder == 0:
            try:
                _confine(self.root)
                os.write(done, b"+")
                signal.pause()
            finally:
                os._exit(1)
        os.close(done)
        if os.read(ready, 1) != b"+":
            raise OSError("the agent's mount namespace could not be made")
        self.namespace = os.open(f"/proc/{holder}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        self.mounts = {
            "supervisor": os.stat("/proc/self/ns/mnt").st_ino,
            "agent": os.fstat(self.namespace).st_ino,
            "mounts": _mounts(holder),
        }
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
        os.close(ready)
        if self.root != "/":
            # What the agent wrote is data here, whatever it is to the agent; also where it is bound to another place.
            _restrict(self.root, boot.MS_NOEXEC)

    def show(self, path):
        """Shows at `path` what the agent's root directory has there: what is executed from the image then works on it, and the
        record has the agent's name for it. No link is followed, and what the agent mounted is not seen. OSError if it is no
        folder. `path` is one name in the root."""
        if self.root == "/":
            return
        theirs = f"{self.root}{path}"
        try:
            found = os.lstat(theirs)
        except FileNotFoundError:
            raise OSError(f"there is no {path} any more") from None
        if not stat.S_ISDIR(found.st_mode):
            raise OSError(f"{path} is no folder any more")
        if os.path.samestat(found, os.stat(path)):
            return
        folder = os.open(theirs, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.path.ismount(path):  # nothing can be mounted over a folder that was removed
                boot.check(boot.LIBC.umount2(path.encode(), boot.MNT_DETACH), f"unmount {path}")
            boot.mount(f"/proc/self/fd/{folder}", path, "", boot.MS_BIND)
        finally:
            os.close(folder)

    def limit(self, pids):
        """The most processes and threads at once; 0 for as many as there can be beside what watches it. And what there is of
        memory: were it limited by the machine alone, all would be starved before one of the agent's processes is ended."""
        with open("/proc/meminfo", encoding="ascii") as file:
            available = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
        boot.write(f"{CGROUP}/memory.max", str(max(available - KEPT_BYTES, available // 2)))
        most = min(_number("threads-max"), _number("pid_max")) - KEPT_THREADS
        boot.write(f"{CGROUP}/pids.max", str(min(pids, most) if pids else most))

    def guard(self, pids):
        """Makes what /proc shows of these processes read-only in the agent's view of the file system: a root without any
        capability may still write how willingly another process of root dies for memory."""
        pid = os.fork()
        if pid == 0:
            try:
                boot.check(boot.LIBC.setns(self.namespace, CLONE_NEWNS), "enter the agent's namespace")
                for each in pids:
                    _make_read_only(f"/proc/{each}")
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(pid, 0)[1] != 0:
            raise OSError("the processes that watch the agent could not be guarded")

    def freeze(self):
        """Stops every process of the agent where it is; nothing thaws it again. Returns whether the kernel said within half a
        second that none runs any more."""
        boot.write(f"{CGROUP}/cgroup.freeze", "1")
        end = time.monotonic() + FREEZE_S_MAX
        while not _count("cgroup.events", "frozen"):
            if time.monotonic() > end:
                return False
            time.sleep(0.0005)
        return True

    def limit_disk(self, octets):
        """What the disk still takes, from whomever; 0 for all that there is. ext4 keeps the rest back, also from root, and
        statfs says so: nothing needs to be made anew or grown for it, so every size starts from the same snapshot."""
        if octets:
            disk = os.statvfs(self.root)
            boot.write(RESERVED, str(max(0, disk.f_bfree - octets // disk.f_frsize)))

    def trust(self, certificate):
        """Has programs trust an authority, in PEM; None for none. In the agent's root, for a link of the image leads nowhere
        else then."""
        if certificate is None:
            return
        pid = os.fork()
        if pid == 0:
            try:
                os.chroot(self.root)
                os.chdir("/")
                trust.trust(certificate)
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(pid, 0)[1] != 0:
            raise OSError("the certificate of the egress gateway could not be written to the agent's disk")
        self.trusts = True

    def limits_reached(self):
        """How many processes were killed for memory, and how often one more was refused."""
        return {"memory": _count("memory.events", "oom_kill"), "pids": _count("pids.events", "max")}

    def start(self, argv, env, cwd, user, descriptors, last):
        """Calls `last`, forks at once and executes; the three descriptors become the agent's 0, 1 and 2. Returns its
        pid. Three times the same descriptor is its terminal."""
        account = pwd.getpwnam(user)
        with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
            last_capability = int(file.read())
        last()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _become(account, last_capability, self.namespace, descriptors)
                os.chdir(cwd)
                _execute(argv, _environment(account, self.variables, env, self.trusts))
            except BaseException as failure:  # the child must never return into init's loop
                os.write(2, f"blackbox: the agent could not be started: {failure}\n".encode())
            os._exit(125)
        return self.pid

    def kill_all(self):
        """Ends every process of the agent, also those that left its session or were adopted by init. Once: nothing
        joins the group but by a fork in it, and each time is an event of the run."""
        if self.killed:
            return
        try:
            boot.write(f"{CGROUP}/cgroup.kill", "1")
            self.killed = True
        except OSError:
            pass  # the group is gone or was never populated


def _mounts(pid):
    """What the agent sees mounted: nothing that is covered, see `_let_mount`."""
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as file:
        fields = [each for each in (line.split() for line in file) if not each[4].startswith(f"{HIDDEN}/")]
    numbers = [[int(number) for number in each[2].split(":")] for each in fields]
    return [{"device": major << 20 | minor, "root": each[3], "at": each[4]} for each, (major, minor) in zip(fields, numbers)]


def _number(name):
    with open(f"/proc/sys/kernel/{name}", encoding="ascii") as file:
        return int(file.read())


def _count(file, name):
    with open(f"{CGROUP}/{file}", encoding="ascii") as events:
        return next((int(line.split()[1]) for line in events if line.split()[0] == name), 0)


def _become(account, last_capability, namespace, descriptors):
    _give_way()
    boot.write(f"{CGROUP}/cgroup.procs", "0")
    boot.check(boot.LIBC.setns(namespace, CLONE_NEWNS), "enter the agent's namespace")
    os.setsid()
    if len(set(descriptors)) == 1:
        fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
        os.fchown(descriptors[0], account.pw_uid, -1)
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    os.closerange(3, 1024)
    for capability in range(last_capability + 1):
        if capability not in KEPT_CAPABILITIES:
            boot.check(boot.LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "drop capability")
    boot.check(boot.LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient capabilities")
    os.initgroups(account.pw_name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.umask(0o022)
    for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _confine(root):
    boot.check(boot.LIBC.unshare(CLONE_NEWNS), "unshare")
    boot.mount("none", "/", "", boot.MS_REC | boot.MS_PRIVATE)
    if root != "/":
        _enter(root)
        _let_mount()
    for path in READ_ONLY:
        _make_read_only(path)
    boot.mount("none", HIDDEN, "tmpfs", boot.MS_RDONLY | boot.MS_NOSUID | boot.MS_NODEV, "size=4k,mode=555")


def _let_mount():
    """The kernel lets a namespace of users mount /proc or /sys only where all of that is visible in its mounts already, and
    READ_ONLY hides. So all of it is mounted, where HIDDEN will cover it. What the agent may write there is decided by a hook
    of the tracer's (privilege.c)."""
    for name in ("proc", "sys"):
        os.makedirs(f"{HIDDEN}/{name}")
        boot.mount(f"/{name}", f"{HIDDEN}/{name}", "", boot.MS_BIND)


def _enter(root):
    """Makes `root` the root of this mount namespace. Of the root before it only the kernel's own file systems are left."""
    for name in ("proc", "sys", "dev"):
        boot.mount(f"/{name}", f"{root}/{name}", "", boot.MS_MOVE)
    boot.mount("run", f"{root}/run", "tmpfs", boot.MS_NOSUID | boot.MS_NODEV, "mode=755")
    os.mkdir(f"{root}{HIDDEN}")
    os.chdir(root)
    boot.check(boot.LIBC.pivot_root(b".", b"."), "pivot_root")
    boot.check(boot.LIBC.umount2(b".", boot.MNT_DETACH), "detach the root before")


def _make_read_only(path):
    boot.mount(path, path, "", boot.MS_BIND)
    _restrict(path, boot.MS_RDONLY)


def _restrict(path, flags):
    boot.mount("none", path, "", boot.MS_REMOUNT | boot.MS_BIND | boot.MS_NOSUID | boot.MS_NODEV | flags)


def _give_way():
    """Takes back what boot.precede gave."""
    boot.write("/proc/self/oom_score_adj", "0")
    os.setpriority(os.PRIO_PROCESS, 0, 0)


def _variables():
    """Those of the image, where the agent cannot change them."""
    try:
        with open(VARIABLES, "rb") as file:
            return [pair.partition(b"=")[::2] for pair in file.read().split(b"\0") if pair]
    except FileNotFoundError:
        return []


def _environment(account, variables, given, trusts):
    env = {
        b"PATH": b"/usr/local/bin:/usr/bin:/bin" if account.pw_uid else b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        b"HOME": account.pw_dir.encode(),
        b"USER": account.pw_name.encode(),
        b"LOGNAME": account.pw_name.encode(),
        b"SHELL": b"/bin/bash",
        b"LANG": b"C.UTF-8",
    }
    env.update(variables)
    if trusts:
        env.update((name.encode(), trust.BUNDLE.encode()) for name in trust.BUNDLE_NAMES)
    for pair in given:
        name, _, value = pair.partition(b"=")
        env[name] = value
    return env


def _execute(argv, env):
    """As a shell does: 127 when there is no such command, 126 when it cannot be executed."""
    try:
        os.execvpe(argv[0], argv, env)
    except FileNotFoundError as failure:
        code, reason = 127, failure
    except OSError as failure:
        code, reason = 126, failure
    os.write(2, b"blackbox: " + argv[0][:4096] + f": {reason.strerror}\n".encode())
    os._exit(code)
