// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 4 of 10: containers. Whatever makes them, they are namespaces of mounts and roots. Every frame has the number of the
// container in which its act was done, as the kernel has it at that moment, so that nobody has to follow who went where;
// here each is told once, by whoever comes there first.

static __always_inline int is_agent(void) {
    u64 group = agent();
    return group && bpf_get_current_ancestor_cgroup_id(1) == group;
}

// From here on a path is not enough; before the call has done anything.
static __always_inline void mounts_move(void) {
    u32 zero = 0;
    struct moved *moved = mounts_moved.lookup(&zero);
    // Where no group is the agents', it may be anyone's act.
    if (!moved || moved->since || (agent() && !is_agent()) || fetch_increment(&moved->claimed))
        return;
    place_of(&moved->from, bpf_get_current_task());
    moved->since = bpf_ktime_get_boot_ns();
}

// int security_sb_mount(const char *dev_name, const struct path *, const char *type, unsigned long flags, void *)
int kfunc__security_sb_mount(u64 *ctx) {
    mounts_move();
    return 0;
}

// struct mnt_namespace *alloc_mnt_ns(struct user_namespace *, bool anon): a copy of all mounts, or, if anonymous, a tree that
// is mounted nowhere
int kfunc__alloc_mnt_ns(u64 *ctx) {
    mounts_move();
    return 0;
}

static __always_inline u64 put_container(u8 *frame, u64 at, u64 task) {
    u64 begin = small(at), nsproxy = word(task + OFF_TASK_NSPROXY), mounts = word(nsproxy + OFF_NSPROXY_MOUNTS);
    u8 *value = frame + begin + TLV;
    tlv(frame + begin, T_CONTAINER, 0, 24, 24);
    *(u64 *)value = word(mounts + OFF_MNT_NS_SEQUENCE);
    *(u32 *)(value + 8) = half(mounts + OFF_MNT_NS_INUM);
    *(u32 *)(value + 12) = half(word(word(task + OFF_TASK_CRED) + OFF_CRED_USERS) + OFF_USER_NS_INUM);
    *(u32 *)(value + 16) = half(word(nsproxy + OFF_NSPROXY_PIDS) + OFF_PID_NS_INUM);
    *(u32 *)(value + 20) = half(word(nsproxy + OFF_NSPROXY_NET) + OFF_NET_INUM);
    return small(begin + TLV + 24);
}

// Tells of the container in which a task is, if nobody has.
static __always_inline void tell_container(u64 task) {
    u32 unknown = 0;
    struct container *container = container_of(task, &unknown);
    u8 *frame = scratch();
    if (!frame || !container || is_tracer() || fetch_increment(&container->told))
        return;
    struct owner owner = {.tgid = half(task + OFF_TASK_TGID), .tid = half(task + OFF_TASK_PID), .start = start_of(task)};
    owner.cgroup = bpf_get_current_cgroup_id();
    owner.container = container->number;
    header_of(frame, F_CONTAINER, 0, &owner);
    u64 at = put_container(frame, HEADER, task);
    at = put_path_of(frame, at, T_PATH, word(task + OFF_TASK_FS) + OFF_FS_ROOT);
    emit_small(frame, at, F_CONTAINER, 0);
}

static __always_inline int perhaps_moved(void) {
    tell_container(bpf_get_current_task());
    return 0;
}

// long __x64_sys_…(const struct pt_regs *), and those of int 0x80
int kretfunc____x64_sys_setns(u64 *ctx) {
    return perhaps_moved();
}

int kretfunc____ia32_sys_setns(u64 *ctx) {
    return perhaps_moved();
}

int kretfunc____x64_sys_chroot(u64 *ctx) {
    return perhaps_moved();
}

int kretfunc____ia32_sys_chroot(u64 *ctx) {
    return perhaps_moved();
}

int kretfunc____x64_sys_pivot_root(u64 *ctx) {
    return perhaps_moved();
}

int kretfunc____ia32_sys_pivot_root(u64 *ctx) {
    return perhaps_moved();
}
