"""In the tracer's place: starts Debian's auditd, with rules for what the tracer tells one by one, and then answers the guest's
init as a tracer does that has nothing to say."""

import json
import os
import subprocess
import sys

HERE = "/run/blackbox/auditd"
STATE = "/mnt/var/auditd"  # on the guest's disk, where a machine's own auditd has it
LOADER = "/lib64/ld-linux-x86-64.so.2"
RULES = (
    "execve,execveat,clone,clone3,fork,vfork,exit_group",
    "open,openat,openat2,creat,truncate,ftruncate,fallocate",
    "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,mknod,mknodat",
    "chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utime,utimes,futimesat,utimensat,setxattr,lsetxattr,fsetxattr",
    "connect,accept,accept4,bind,listen,kill,tkill,tgkill,ptrace,mount,umount2,setns,unshare,chroot,pivot_root,bpf",
    "setuid,setgid,setreuid,setregid,setresuid,setresgid,setfsuid,setfsgid,setgroups,capset,prctl,seccomp",
)


def execute(program, *arguments):
    return subprocess.Popen([LOADER, "--library-path", HERE, f"{HERE}/{program}", *arguments], stdout=2)


def start():
    os.makedirs(f"{STATE}/plugins", 0o750)
    with open(f"{HERE}/auditd.conf") as shipped, open(f"{STATE}/auditd.conf", "w") as ours:
        for line in shipped:
            name = line.split("=")[0].strip()
            changed = {
                "log_file": f"{STATE}/audit.log",
                "plugin_dir": f"{STATE}/plugins",
                "log_group": "root",
                "log_format": "RAW",  # the cheaper one
                "use_libwrap": "no",
                "max_log_file": "512",
            }
            ours.write(f"{name} = {changed[name]}\n" if name in changed else line)
    with open(f"{STATE}/rules", "w") as rules:
        rules.write("-D\n-b 8192\n")
        rules.writelines(f"-a always,exit -F arch=b64 -S {calls}\n" for calls in RULES)
    daemon = execute("auditd", "-n", "-c", STATE, "-s", "enable")
    listening = "type=DAEMON_START"
    while daemon.poll() is None and not (os.path.exists(f"{STATE}/audit.log") and listening in open(f"{STATE}/audit.log").read()):
        os.sched_yield()
    if daemon.returncode is not None or execute("auditctl", "-R", f"{STATE}/rules").wait() != 0:
        raise OSError("auditd did not start")


def say(message):
    print(json.dumps(message), flush=True)


def main():
    try:
        start()
    except (OSError, KeyError) as failure:
        say({"type": "error", "what": str(failure)})
        sys.exit(1)
    # Init keeps copies of what a tracer holds open.
    held = os.memfd_create("loaded"), os.open(sys.argv[sys.argv.index("--events") + 1], os.O_WRONLY)
    say({"type": "ready", "attached": [], "failed": [], "held": held})
    answers = {"go": "going", "seed": "seeded", "drain": "drained"}
    for line in sys.stdin:
        say({"type": answers[json.loads(line)["op"]]})


main()
