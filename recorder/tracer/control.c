// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 10 of 10: what tracer.py calls (BPF_PROG_TEST_RUN): heartbeats, flushes of what is folded, and the list of what
// already runs. These frames go through the same ring and sequence as all others.

#define TASKS_PER_CALL 128

// Where the walk over tasks stands.
BPF_ARRAY(cursor, u64, 2);

// Whose namespace of users the tracer shares is guarded; see tracer.c.
int op_guard(struct bpf_raw_tracepoint_args *ctx) {
    u32 zero = 0;
    u64 users = word(word(bpf_get_current_task() + OFF_TASK_CRED) + OFF_CRED_USERS);
    guarded_users.update(&zero, &users);
    return users != 0;
}

// A heartbeat's frame. It is asked for on each CPU by an interrupt, which may come between what another program does in the scratch.
struct beat {
    u8 octets[HEADER + TLV + sizeof(struct counters)];
};
BPF_ARRAY(beats, struct beat, CPUS_MAX);

// args: frame flags, missed program runs
int op_heartbeat(struct bpf_raw_tracepoint_args *ctx) {
    int cpu = bpf_get_smp_processor_id();
    struct beat *beat = beats.lookup(&cpu);
    struct counters *c = counters_here();
    if (!beat || !c)
        return 1;
    u8 *frame = beat->octets;
    c->misses = ctx->args[1];
    struct owner owner = {};
    owner_anywhere(&owner); // an interrupt, so of nobody
    header_of(frame, F_HEARTBEAT, 0, &owner);
    ((struct header *)frame)->flags = ctx->args[0];
    tlv(frame + HEADER, T_COUNTERS, 0, sizeof *c, sizeof *c);
    bpf_probe_read_kernel(frame + HEADER + TLV, sizeof *c, c);
    emit(frame, HEADER + TLV + sizeof *c, F_HEARTBEAT, 0);
    return 0;
}

// args: file, tgid
int op_flush_io(struct bpf_raw_tracepoint_args *ctx) {
    struct io_key key = {.file = ctx->args[0], .tgid = ctx->args[1]};
    struct io *io = ios.lookup(&key);
    if (!io)
        return 0;
    struct io copy = *io;
    if (!(copy.reads + copy.writes + copy.refused))
        return 0;
    if (word(key.file + OFF_FILE_INODE) != copy.inode) {
        ios.delete(&key);
        send_io_nameless(&copy);
        return 0;
    }
    // What another processor adds meanwhile stays, for the next sweep.
    __sync_fetch_and_add(&io->reads, -copy.reads);
    __sync_fetch_and_add(&io->bytes_read, -copy.bytes_read);
    __sync_fetch_and_add(&io->writes, -copy.writes);
    __sync_fetch_and_add(&io->bytes_written, -copy.bytes_written);
    __sync_fetch_and_add(&io->requested, -copy.requested);
    __sync_fetch_and_add(&io->refused, -copy.refused);
    io->last = 0;
    io->first = ~0ULL;
    send_io(key.file, &copy, FRAME_FLUSH);
    return 0;
}

// Sends what a flow has counted; one that has counted nothing is forgotten. args: the key's words
int op_flush_udp(struct bpf_raw_tracepoint_args *ctx) {
    u64 words[4] = {ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3]};
    struct flow_key key = {};
    __builtin_memcpy(&key, words, sizeof key);
    struct udp_flow *flow = udp_flows.lookup(&key);
    if (!flow)
        return 0;
    struct udp_flow copy = *flow;
    if (!(copy.flow.packets_out + copy.flow.packets_in)) {
        udp_flows.delete(&key);
        return 0;
    }
    flow->flow.bytes_out = flow->flow.bytes_in = flow->flow.packets_out = flow->flow.packets_in = flow->flow.first_ns = 0;
    emit_udp(&copy, F_FLOW, FRAME_FLUSH, 0);
    return 0;
}

// args: sk
int op_flush_tcp(struct bpf_raw_tracepoint_args *ctx) {
    u64 sk = ctx->args[0];
    struct owner *known = tcp_owners.lookup(&sk);
    if (!known)
        return 0;
    struct owner owner = *known;
    emit_tcp(sk, &owner, half(sk + OFF_SK_STATE) & 0xff, FRAME_FLUSH);
    return 0;
}

// Walks the kernel's ring of tasks from where the last call stopped, up to the next process, and sends it.
// Returns 1 when the walk is at its end. args: 1 to begin
int op_running(struct bpf_raw_tracepoint_args *ctx) {
    u32 zero = 0, one = 1;
    u64 *at = cursor.lookup(&zero), *begin = cursor.lookup(&one);
    u8 *frame = scratch();
    if (!at || !begin || !frame)
        return 1;
    if (ctx->args[0])
        *at = *begin = word(bpf_get_current_task() + OFF_TASK_LEADER);
    u64 task = *at, first = *begin, found = 0, i;
#pragma clang loop unroll(disable)
    for (i = 0; i < TASKS_PER_CALL; i++) {
        task = word(task + OFF_TASK_TASKS) - OFF_TASK_TASKS;
        if (task == first)
            break;
        if (!(half(task + OFF_TASK_FLAGS) & TASK_KTHREAD_FLAG)) {
            found = task;
            break;
        }
    }
    *at = task;
    if (found) {
        struct owner owner = {.tgid = half(found + OFF_TASK_TGID), .tid = half(found + OFF_TASK_PID), .start = start_of(found)};
        header_of(frame, F_RUNNING, 0, &owner);
        u64 end = put_comm(frame, HEADER, found);
        end = put_parent(frame, end, word(found + OFF_TASK_PARENT));
        end = put_creds(frame, end, word(found + OFF_TASK_CRED));
        end = put_path_of(frame, end, T_EXE, word(word(found + OFF_TASK_MM) + OFF_MM_EXE_FILE) + OFF_FILE_PATH);
        emit_small(frame, end, F_RUNNING, 0);
    }
    return task == first;
}
