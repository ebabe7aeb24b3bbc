// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 9 of 10: credentials, and the interfaces through which a process can get around what is seen here. The numbers that
// are missing are in load.py.

#define P_PTRACE 1
#define P_MOUNT 3
#define P_UNSHARE 5
#define P_URING 7
#define P_AIO 8
#define P_KILL 9
#define P_CLONE 18
#define P_HELPER 26
#define P_UMOUNT 27
#define P_MOVE_MOUNT 28
#define P_PIVOT_ROOT 29
#define P_CHROOT 30
#define P_CHEAP 43
#define INIT_PID 1
#define PRLIMIT_WRITE 2
#define TASK_KTHREAD_FLAG 0x00200000

// int commit_creds(struct cred *)
int kfunc__commit_creds(u64 *ctx) {
    u64 task = bpf_get_current_task();
    u8 *frame = scratch();
    struct creds before = {}, after = {};
    creds_of(&before, word(task + OFF_TASK_CRED));
    creds_of(&after, ctx[0]);
    u64 *a = (u64 *)&before, *b = (u64 *)&after;
    u64 same = 1;
#pragma unroll
    for (int i = 0; i < sizeof before / 8; i++)
        same &= a[i] == b[i];
    if (!frame || same || is_tracer())
        return 0;
    header_now(frame, F_CRED, 0);
    u64 at = put_creds(frame, HEADER, word(task + OFF_TASK_CRED));
    at = put_creds(frame, at, ctx[0]);
    emit_small(frame, at, F_CRED, 0);
    return 0;
}

// Of a call that returns a descriptor.
static __always_inline s64 failure(s64 ret) {
    return ret < 0 ? ret : 0;
}

static __always_inline int used_as(u64 what, s64 ret, u64 a, u64 b, u32 volume) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_PRIVILEGE, ret);
    u64 at = put_numbers(frame, HEADER, what, a, b);
    emit_small(frame, at, F_PRIVILEGE, volume);
    return 0;
}

static __always_inline int used(u64 what, s64 ret, u64 a, u64 b) {
    return used_as(what, ret, a, b, 0);
}

// System calls that are noted when they return, whatever they returned: what the kernel refuses before it calls any inner
// function is seen, too. One program is bound to all of them, and load.py says what each is. An argument is one of the
// first three, or 3 for none.
#define NOTED_MAX 256
#define WHEN_ALWAYS 0
#define WHEN_CHANGES 1
#define WHEN_RESTRICTS 2
#define WHEN_OTHER 3
#define WHEN_NOT_INIT 4
#define WHEN_SETS 5
#define WHEN_KEPT 6
#define WHEN_REFUSED 7
#define WHEN_GETS 8

struct noted {
    u32 what, a, b, when;
};

// By the call's number, that of int 0x80 with its highest bit set.
BPF_HASH(noted_calls, u32, struct noted, NOTED_MAX);
#define BY_INT_80 (1u << 31)

#define PTRACE_TRACEME 0
#define PTRACE_POKETEXT 4
#define PTRACE_POKEUSER 6
#define PTRACE_SETREGS 13
#define PTRACE_SETREGSET 0x4205
#define PR_SET_DUMPABLE 4
#define PR_SET_SECCOMP 22
#define PR_SET_SECUREBITS 28
#define PR_SET_NO_NEW_PRIVS 38
#define PR_CAP_AMBIENT 47
#define SECCOMP_SETS 2
// Operations of ipc(2).
#define SEMGET 2
#define MSGGET 13
#define SHMGET 23
#define NEW_NAMESPACES 0x7e020080

static __always_inline int is_noted(u32 when, u32 first) {
    u64 id = bpf_get_current_pid_tgid();
    switch (when) {
    case WHEN_CHANGES: // not the requests of ptrace that only look, or let a process go on; who attaches is seen below
        return first == PTRACE_TRACEME || (first >= PTRACE_POKETEXT && first <= PTRACE_POKEUSER) ||
            first == PTRACE_SETREGS || first == PTRACE_SETREGSET;
    case WHEN_RESTRICTS:
        return first == PR_SET_DUMPABLE || first == PR_SET_SECCOMP || first == PR_SET_SECUREBITS ||
            first == PR_SET_NO_NEW_PRIVS || first == PR_CAP_AMBIENT;
    case WHEN_OTHER: // in whatever namespace the number is meant
        return first != 0;
    case WHEN_NOT_INIT: // which sets the clock of a replay time and again, and keeps what the tracer holds
        return id >> 32 != INIT_PID;
    case WHEN_SETS:
        return first < SECCOMP_SETS;
    case WHEN_GETS: // the upper half is a version
        return (first & 0xffff) == SEMGET || (first & 0xffff) == MSGGET || (first & 0xffff) == SHMGET;
    }
    return 1;
}

static __always_inline int note_call(u64 regs, s64 ret, u32 flag, u64 x0, u64 x1, u64 x2) {
    u32 number = (u32)word(regs + OFF_REGS_NUMBER) | flag;
    struct noted *call = noted_calls.lookup(&number);
    if (!call || !is_noted(call->when, x0) || (call->when == WHEN_REFUSED && ret >= 0))
        return 0;
    if (call->when == WHEN_KEPT && is_kept(F_PRIVILEGE))
        return send_kept(F_PRIVILEGE, ret);
    u64 a = call->a == 0 ? x0 : call->a == 1 ? x1 : call->a == 2 ? x2 : 0;
    u64 b = call->b == 0 ? x0 : call->b == 1 ? x1 : call->b == 2 ? x2 : 0;
    // Calls that cost a program nothing may not use up what is kept for others: those that fail, and most that need no privilege.
    return used_as(call->what, failure(ret), (u32)a, (u32)b, ret < 0 || call->what >= P_CHEAP);
}

// long __x64_sys_…(const struct pt_regs *)
int noted__by_syscall(u64 *ctx) {
    u64 regs = ctx[0];
    return note_call(
        regs, ctx[1], 0, word(regs + OFF_REGS_DI), word(regs + OFF_REGS_SI), word(regs + OFF_REGS_DX));
}

// long __ia32_sys_…(const struct pt_regs *)
int noted__by_int_80(u64 *ctx) {
    u64 regs = ctx[0];
    return note_call(
        regs, ctx[1], BY_INT_80, word(regs + OFF_REGS_BX), word(regs + OFF_REGS_CX), word(regs + OFF_REGS_DX));
}

// int ptrace_attach(struct task_struct *, long request, unsigned long addr, unsigned long flags)
int kretfunc__ptrace_attach(u64 *ctx) {
    return used(P_PTRACE, (s32)ctx[4], half(ctx[0] + OFF_TASK_TGID), ctx[1]);
}

// pid_t kernel_clone(struct kernel_clone_args *): only those that make namespaces
int kretfunc__kernel_clone(u64 *ctx) {
    u64 flags = word(ctx[0]);
    return flags & NEW_NAMESPACES ? used(P_CLONE, failure((s32)ctx[1]), flags, 0) : 0;
}

// In what follows, an answer other than 0 stands for the kernel's own. A root that lacks capabilities may by the kernel's
// rules signal, and set limits of, every other process of root.

// int security_task_kill(struct task_struct *, struct kernel_siginfo *, int sig, const struct cred *): every signal that a system call
// sends, whatever it says about itself
int kmod_ret__security_task_kill(u64 *ctx) {
    u64 target = ctx[0], info = ctx[1];
    u32 signal = ctx[2], caller = bpf_get_current_pid_tgid() >> 32, pid = half(target + OFF_TASK_TGID);
    int of_tracer = pid == tracer() && caller != INIT_PID && caller != tracer();
    // Signal 0 only asks whether the process is there.
    if (!signal)
        return 0;
    if (of_tracer || (is_agent() && is_guarded(word(target + OFF_TASK_CRED)))) {
        used(P_KILL, -1, signal, 0);
        return -1;
    }
    if (info > SENT_BY_KERNEL && caller != pid && !is_tracer())
        sent(target, signal, 0);
    return 0;
}

// int security_file_send_sigiotask(struct task_struct *, struct fown_struct *, int sig): a signal that fcntl(F_SETSIG) chose,
// for whom F_SETOWN named. It can be sent from anywhere, an interrupt too: who sends says nothing, and no frame is built.
int kmod_ret__security_file_send_sigiotask(u64 *ctx) {
    u32 target = half(ctx[0] + OFF_TASK_TGID);
    if (target != tracer() && target != INIT_PID && !(agent() && is_guarded(word(ctx[0] + OFF_TASK_CRED))))
        return 0;
    return -1;
}

// int security_bprm_check(struct linux_binprm *): the kernel executes files of its own accord for modules, keys and more, as a
// root outside of every group; the files may be the agent's.
int kmod_ret__security_bprm_check(u64 *ctx) {
    u64 parent = word(bpf_get_current_task() + OFF_TASK_PARENT);
    if (!agent() || !(half(parent + OFF_TASK_FLAGS) & TASK_KTHREAD_FLAG))
        return 0;
    used(P_HELPER, -1, 0, 0);
    return -1;
}

// int security_task_prlimit(const struct cred *, const struct cred *target, unsigned flags): asked about other processes only
int kmod_ret__security_task_prlimit(u64 *ctx) {
    return (u32)ctx[2] & PRLIMIT_WRITE && is_agent() && is_guarded(ctx[1]) ? -1 : 0;
}

#define PROC_MAGIC 0x9fa0
#define SYSFS_MAGIC 0x62656572
#define PROC_DEPTH_MAX 16

// int security_file_open(struct file *): most of /proc and /sys belongs to root, whatever its capabilities, and speaks to the
// kernel itself: which program it executes for a core, what a magic key does. What an agent mounts in namespaces of its own is
// not read-only, so it is refused here; but for what is of its own processes, which is all of them that it can mount.
int kmod_ret__security_file_open(u64 *ctx) {
    if (!(half(ctx[0] + OFF_FILE_MODE) & FMODE_WRITE_BIT))
        return 0;
    u64 magic = word(word(word(ctx[0] + OFF_FILE_INODE) + OFF_INODE_SB) + OFF_SB_MAGIC);
    if ((magic != PROC_MAGIC && magic != SYSFS_MAGIC) || !is_agent())
        return 0;
    if (magic == SYSFS_MAGIC)
        return -1;
    u64 words[3], dentry = word(ctx[0] + OFF_FILE_PATH + OFF_PATH_DENTRY), round;
    u8 first = 0;
#pragma clang loop unroll(disable)
    for (round = 0; round < PROC_DEPTH_MAX; round++) {
        if (bpf_probe_read_kernel(words, sizeof words, (void *)(dentry + OFF_DENTRY_PARENT)) || words[0] == dentry)
            break;
        bpf_probe_read_kernel(&first, sizeof first, (void *)words[2]);
        dentry = words[0];
    }
    return first < '0' || first > '9' ? -1 : 0;
}

// int ksys_unshare(unsigned long)
int kretfunc__ksys_unshare(u64 *ctx) {
    used(P_UNSHARE, (s32)ctx[1], ctx[0], 0);
    return perhaps_moved();
}

// long io_uring_setup(u32 entries, struct io_uring_params *)
int kretfunc__io_uring_setup(u64 *ctx) {
    return used(P_URING, ctx[2], (u32)ctx[0], 0);
}

// struct kioctx *ioctx_alloc(unsigned)
int kretfunc__ioctx_alloc(u64 *ctx) {
    s64 result = ctx[1];
    return used(P_AIO, result < 0 && result >= -4095 ? result : 0, (u32)ctx[0], 0);
}

// int path_mount(const char *dev_name, struct path *, const char *type_page, unsigned long flags, void *)
int kretfunc__path_mount(u64 *ctx) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_PRIVILEGE, (s32)ctx[5]);
    u64 at = put_numbers(frame, HEADER, P_MOUNT, ctx[3], 0);
    at = put_path_of(frame, at, T_PATH, ctx[1]);
    if (ctx[2])
        at = put_string(frame, at, T_NAME, ctx[2]);
    if (ctx[0])
        at = put_string(frame, at, T_TARGET, ctx[0]);
    emit_small(frame, at, F_PRIVILEGE, 0);
    return 0;
}

// Kept until the call returns (noted as WHEN_KEPT), because only here the paths are known.
static __always_inline int keep_mounts(u64 what, u64 flags, u64 path, u64 to) {
    mounts_move();
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_PRIVILEGE, 0);
    u64 at = put_numbers(frame, HEADER, what, flags, 0);
    at = put_path_of(frame, at, T_PATH, path);
    if (to)
        at = put_path_of(frame, at, T_PATH_TO, to);
    keep(frame, at, F_PRIVILEGE);
    return 0;
}

// int security_sb_umount(struct vfsmount *, int flags)
int kfunc__security_sb_umount(u64 *ctx) {
    u64 path[2] = {ctx[0], word(ctx[0] + OFF_VFSMOUNT_ROOT)};
    return keep_mounts(P_UMOUNT, (u32)ctx[1], (u64)path, 0);
}

// int security_move_mount(const struct path *from, const struct path *to)
int kfunc__security_move_mount(u64 *ctx) {
    return keep_mounts(P_MOVE_MOUNT, 0, ctx[0], ctx[1]);
}

// int security_sb_pivotroot(const struct path *old, const struct path *new): where the root is moved to, and what becomes it
int kfunc__security_sb_pivotroot(u64 *ctx) {
    return keep_mounts(P_PIVOT_ROOT, 0, ctx[1], ctx[0]);
}

// int security_path_chroot(const struct path *)
int kfunc__security_path_chroot(u64 *ctx) {
    return keep_mounts(P_CHROOT, 0, ctx[0], 0);
}
