// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 5 of 10: processes. What is executed is read after the kernel has copied it (`mm->arg_start`), where its pages are
// resident, not from the caller's memory before.

#define ARGV_BYTES_MAX 65536
#define ENV_BYTES_MAX 16384
#define FAILED_ARGS_MAX 32
#define SIGNAL_GROUP_EXIT_FLAG 4

static __always_inline u64 large(u64 at) {
    asm volatile("%0 &= 0x1ffff" : "+r"(at));
    return at;
}

// Appends user memory [from, to), or says that it could not be read.
static __always_inline u64 put_memory(u8 *frame, u64 begin, u32 type, u64 from, u64 to, u32 most) {
    u64 at = begin + TLV, flags = 0, original = to - from;
    u64 wanted = original;
    if (to < from) {
        tlv(frame + begin, type, TLV_FAULT, 0, 0);
        return at;
    }
    if (wanted > most) {
        wanted = most;
        flags = TLV_TRUNCATED;
    }
    asm volatile("" : "+r"(wanted));
    if (wanted > most)
        return at;
    if (bpf_probe_read_user(frame + at, wanted, (void *)from)) {
        flags |= TLV_FAULT;
        wanted = 0;
    }
    tlv(frame + begin, type, flags, wanted, original);
    return at + wanted;
}

#define OCTETS 0x0101010101010101ULL

// 1 in each octet of `octets` that is zero.
static __always_inline u64 zeros(u64 octets) {
    u64 low = 127 * OCTETS;
    return ~(((octets & low) + low) | octets | low) >> 7;
}

// Replaces every octet of a variable's value by '*', eight in a round, so that no value leaves the machine; names, '=' and
// NULs stay. Whether an octet is part of a value depends on all before it, as a carry does in an addition, and an addition
// answers for eight at once: '=' makes a carry, NUL ends it, all others pass it on.
int loop__values(u64 round) {
    u8 *frame = scratch();
    if (!frame)
        return 1;
    struct masking *masking = &((struct scratch *)frame)->masking;
    u64 done = round * 8, begin = large(masking->at + done);
    if (done >= masking->length || begin > LARGE - 8)
        return 1;
    u64 *at = (u64 *)(frame + begin), octets = *at;
    u64 passes = ~(zeros(octets) * 255);
    u64 begins = zeros(octets ^ '=' * OCTETS) * 255;
    u64 sum = passes + begins + masking->carry;
    u64 masked = ((passes ^ begins ^ sum) & OCTETS) * 255 & passes;
    masking->carry = (begins | passes & ~sum) >> 63;
    // Up to seven octets behind the block's end are changed too; they are not sent.
    *at = octets & ~masked | '*' * OCTETS & masked;
    return 0;
}

// Appends an environment with its values masked.
static __always_inline u64 put_environment(u8 *frame, u64 begin, u64 from, u64 to) {
    u64 end = put_memory(frame, begin, T_ENV, from, to, ENV_BYTES_MAX);
    struct masking *masking = &((struct scratch *)frame)->masking;
    masking->at = begin + TLV;
    masking->length = end - begin - TLV;
    masking->carry = 0;
    if (ROUNDS(ENV_BYTES_MAX / 8, BODY_VALUES) <= 0) { // not masked: nothing of it is sent
        tlv(frame + begin, T_ENV, TLV_FAULT, 0, 0);
        return begin + TLV;
    }
    return end;
}

// args: struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm
RAW_TRACEPOINT_PROBE(sched_process_exec) {
    executed_drawer(ctx->args[1]);
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    u64 task = ctx->args[0];
    u64 mm = word(task + OFF_TASK_MM);
    header_now(frame, F_EXEC, 0);
    u64 at = put_comm(frame, HEADER, task);
    at = put_parent(frame, at, word(task + OFF_TASK_PARENT));
    at = put_creds(frame, at, word(task + OFF_TASK_CRED));
    at = put_path_of(frame, at, T_EXE, word(mm + OFF_MM_EXE_FILE) + OFF_FILE_PATH);
    at = put_path_of(frame, at, T_CWD, word(task + OFF_TASK_FS) + OFF_FS_PWD);
    at = put_string(frame, at, T_NAME, word(ctx->args[2] + OFF_BINPRM_FILENAME));
    at = put_memory(frame, small(at), T_ARGV, word(mm + OFF_MM_ARG_START), word(mm + OFF_MM_ARG_END), ARGV_BYTES_MAX);
    at = put_environment(frame, large(at), word(mm + OFF_MM_ENV_START), word(mm + OFF_MM_ENV_END));
    if (at > LARGE)
        return 0;
    emit(frame, at, F_EXEC, 0);
    tell_container(task);
    return 0;
}

static __always_inline int exec_failed(u64 name, u64 argv, s64 ret) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    u64 task = bpf_get_current_task();
    header_now(frame, F_EXEC_FAILED, ret);
    u64 at = put_path_of(frame, HEADER, T_CWD, word(task + OFF_TASK_FS) + OFF_FS_PWD);
    at = put_user_string(frame, at, T_NAME, name);
    u64 begin = small(at), end = small(at + TLV), flags = TLV_TRUNCATED, i;
#pragma clang loop unroll(disable)
    for (i = 0; i < FAILED_ARGS_MAX; i++) {
        u64 argument = 0;
        if (bpf_probe_read_user(&argument, 8, (void *)(argv + 8 * i))) {
            flags = TLV_FAULT;
            break;
        }
        if (!argument) {
            flags = 0;
            break;
        }
        if (end - begin > 4096)
            break;
        long length = bpf_probe_read_user_str(frame + small(end), 1024, (void *)argument);
        if (length < 0) {
            flags = TLV_FAULT;
            break;
        }
        end = small(end + length);
        if (length == 1024)
            break;
    }
    u64 captured = small(end - begin - TLV);
    tlv(frame + begin, T_ARGV, flags, captured, flags ? 0xffffffff : captured);
    emit_small(frame, end, F_EXEC_FAILED, 0);
    return 0;
}

// long __x64_sys_execve(const struct pt_regs *)
int kretfunc____x64_sys_execve(u64 *ctx) {
    s64 ret = ctx[1];
    return ret < 0 ? exec_failed(word(ctx[0] + OFF_REGS_DI), word(ctx[0] + OFF_REGS_SI), ret) : 0;
}

// long __x64_sys_execveat(const struct pt_regs *)
int kretfunc____x64_sys_execveat(u64 *ctx) {
    s64 ret = ctx[1];
    return ret < 0 ? exec_failed(word(ctx[0] + OFF_REGS_SI), word(ctx[0] + OFF_REGS_DX), ret) : 0;
}

// args: struct task_struct *parent, struct task_struct *child
RAW_TRACEPOINT_PROBE(sched_process_fork) {
    u64 child = ctx->args[1];
    forked_drawer(child);
    u8 *frame = scratch();
    struct owner owner = {.tgid = half(child + OFF_TASK_TGID), .tid = half(child + OFF_TASK_PID)};
    if (!frame || is_tracer())
        return 0;
    // New threads are not processes; their own events carry their tid.
    if (owner.tgid != owner.tid) {
        tell_container(child);
        return 0;
    }
    owner.start = word(child + OFF_TASK_START);
    owner.cgroup = bpf_get_current_cgroup_id();
    owner.container = container_number(child);
    header_of(frame, F_FORK, 0, &owner);
    u64 at = put_comm(frame, HEADER, child);
    // The child's parent, which is the caller's own parent with CLONE_PARENT.
    at = put_parent(frame, at, word(child + OFF_TASK_PARENT));
    at = put_creds(frame, at, word(child + OFF_TASK_CRED));
    emit_small(frame, at, F_FORK, 0);
    tell_container(child);
    return 0;
}

struct ended {
    u64 start, tgid;
};

// Processes whose end was told. Of threads that end at the same time each may find that no other one lives.
BPF_TABLE("lru_hash", struct ended, u8, told_ends, 1024);
#define ALREADY_THERE -17

// How deep a thread is in vfs_fileattr_set, see change.c: an overlay calls it again for the file below.
#define DEPTHS_MAX 256
BPF_HASH(attribute_depths, u32, u32, DEPTHS_MAX);

// args: struct task_struct *p
RAW_TRACEPOINT_PROBE(sched_process_exit) {
    u64 task = ctx->args[0];
    u32 tid = bpf_get_current_pid_tgid();
    forget_drawer(task);
    attribute_depths.delete(&tid);
    u64 signal = word(task + OFF_TASK_SIGNAL);
    u8 *frame = scratch();
    if (!frame || half(signal + OFF_SIGNAL_LIVE) != 0 || !word(task + OFF_TASK_LEADER))
        return 0;
    struct ended process = {.start = start_of(task), .tgid = half(task + OFF_TASK_TGID)};
    u8 told = 1;
    if (told_ends.insert(&process, &told) == ALREADY_THERE)
        return 0;
    u32 code = half(word(task + OFF_TASK_LEADER) + OFF_TASK_EXIT_CODE);
    if (half(signal + OFF_SIGNAL_FLAGS) & SIGNAL_GROUP_EXIT_FLAG)
        code = half(signal + OFF_SIGNAL_GROUP_EXIT_CODE);
    header_now(frame, F_EXIT, code);
    emit_small(frame, HEADER, F_EXIT, 0);
    return 0;
}

#define SIGKILL_NUMBER 9
// What stands for a signal's information where there is none: it is from a process, or from the kernel.
#define SENT_BY_PROCESS 0
#define SENT_BY_KERNEL 1

// One process's signal to another, or the kernel's. Frames that cost a program next to nothing may not use up what is kept for others.
static __always_inline void sent(u64 target, u32 signal, u64 kernel) {
    u8 *frame = scratch();
    if (!frame)
        return;
    header_now(frame, F_SIGNAL, 0);
    u64 at = put_numbers(frame, HEADER, signal | kernel << 32, half(target + OFF_TASK_TGID), start_of(target));
    at = put_string(frame, at, T_NAME, target + OFF_TASK_COMM);
    emit_small(frame, at, F_SIGNAL, 1);
}

// args: int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result. Of a process to another by no system call
// that names it (a control group that is killed, a parent that ends), and whom the kernel kills, for want of memory first of all.
// Those by system calls are in privilege.c; timers and faults are not told, which come in interrupts, too.
RAW_TRACEPOINT_PROBE(signal_generate) {
    u64 info = ctx->args[1], target = ctx->args[2];
    u32 signal = ctx->args[0];
    int by_kernel = info == SENT_BY_KERNEL && signal == SIGKILL_NUMBER;
    int by_other = info == SENT_BY_PROCESS && bpf_get_current_pid_tgid() >> 32 != half(target + OFF_TASK_TGID);
    if ((by_kernel || by_other) && !is_tracer())
        sent(target, signal, by_kernel);
    return 0;
}
