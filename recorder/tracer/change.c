// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 7 of 10: changes to names and attributes. The kernel resolves a name inside the call and its result is known only
// at the end: the frame is built where the security hook has the resolved paths, kept by thread, and sent with the result
// when the call returns. Of a call that fails before its names are resolved they are sent as the caller gave them.

#define STASH_BYTES 12288
#define STASHES_MAX 256
#define MAP_TYPE_BITS 15
#define ATTR_OPEN_BIT 0x8000
#define S_IFIFO_BITS 0010000
#define S_IFCHR_BITS 0020000
#define S_IFBLK_BITS 0060000
#define S_IFSOCK_BITS 0140000
// Where the kernel keeps the registers of a thread that entered it: at the end of its stack.
#define KERNEL_STACK_BYTES 16384
#define REGS_BYTES 168
#define IN_INT_80 2
#define TASK_IO_WORKER_FLAG 0x10
#define ATTRIBUTE_BYTES_MAX 64

struct stash {
    u8 octets[STASH_BYTES];
};

BPF_HASH(stashes, u32, struct stash, STASHES_MAX);

// An argument as a plain number: the verifier forbids arithmetic on the typed pointer that ctx[n] would be.
#define PLAIN(n) word((u64)(ctx + (n)))

static __always_inline void keep(u8 *frame, u64 end, u32 type) {
    u32 tid = bpf_get_current_pid_tgid();
    ((struct header *)frame)->length = end;
    if (end > STASH_BYTES || stashes.update(&tid, (struct stash *)frame))
        not_built(type, 0);
}

static __always_inline int is_kept(u32 type) {
    u32 tid = bpf_get_current_pid_tgid();
    struct stash *stash = stashes.lookup(&tid);
    return stash && ((struct header *)stash->octets)->type == type;
}

// The names are read when the call is over: another thread may have put others there, so they are what the caller says.
static __always_inline int failed_name(u32 type, s64 ret) {
    u64 task = bpf_get_current_task(), regs = word(task + OFF_TASK_STACK) + KERNEL_STACK_BYTES - REGS_BYTES;
    u64 first = word(regs + OFF_REGS_DI), second = word(regs + OFF_REGS_SI), name = 0, to = 0;
    // A worker of io_uring has the registers of a call that somebody else made.
    if (ret >= 0 || half(task + OFF_TASK_STATUS) & IN_INT_80 || half(task + OFF_TASK_FLAGS) & TASK_IO_WORKER_FLAG || is_tracer())
        return 0;
    switch (word(regs + OFF_REGS_NUMBER)) {
    case 83: // mkdir
    case 84: // rmdir
    case 87: // unlink
    case 133: // mknod
        name = first;
        break;
    case 82: // rename
    case 86: // link
        name = first;
        to = second;
        break;
    case 88: // symlink
        name = second;
        to = first;
        break;
    case 258: // mkdirat
    case 259: // mknodat
    case 263: // unlinkat
        name = second;
        break;
    case 264: // renameat
    case 265: // linkat
    case 316: // renameat2
        name = second;
        to = word(regs + OFF_REGS_R10);
        break;
    case 266: // symlinkat
        name = word(regs + OFF_REGS_DX);
        to = first;
        break;
    }
    u8 *frame = scratch();
    if (!frame || !name)
        return 0;
    header_now(frame, type, ret);
    u64 at = put_user_string(frame, HEADER, T_NAME, name);
    if (to)
        at = put_user_string(frame, at, T_TARGET, to);
    // It costs a program nothing, so it may not use up what is kept for others.
    emit_small(frame, at, type, 1);
    return 0;
}

static __always_inline int send_kept(u32 type, s64 ret) {
    u32 tid = bpf_get_current_pid_tgid();
    struct stash *stash = stashes.lookup(&tid);
    if (!stash)
        return failed_name(type, ret);
    struct header *h = (struct header *)stash->octets;
    u64 length = h->length;
    asm volatile("" : "+r"(length));
    if (h->type == type && length <= STASH_BYTES) {
        h->ret = ret;
        emit(stash->octets, length, type, 0);
    }
    stashes.delete(&tid);
    return 0;
}

// The path of `child` in the directory `dir` (a struct path).
static __always_inline u64 put_child(u8 *frame, u64 at, u32 type, u64 dir, u64 child) {
    return put_path(frame, at, type, word(dir + OFF_PATH_MNT), child);
}

static __always_inline int keep_child(u32 type, u64 dir, u64 child, u64 a) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, type, 0);
    u64 at = put_numbers(frame, HEADER, a, 0, 0);
    at = put_child(frame, at, T_PATH, dir, child);
    keep(frame, at, type);
    return 0;
}

// int security_path_unlink(const struct path *dir, struct dentry *)
int kfunc__security_path_unlink(u64 *ctx) {
    return keep_child(F_UNLINK, ctx[0], PLAIN(1), 0);
}

int kretfunc__do_unlinkat(u64 *ctx) {
    return send_kept(F_UNLINK, (s32)ctx[2]);
}

int kfunc__security_path_rmdir(u64 *ctx) {
    return keep_child(F_RMDIR, ctx[0], PLAIN(1), 0);
}

int kretfunc__do_rmdir(u64 *ctx) {
    return send_kept(F_RMDIR, (s32)ctx[2]);
}

// int security_path_mkdir(const struct path *dir, struct dentry *, umode_t)
int kfunc__security_path_mkdir(u64 *ctx) {
    return keep_child(F_MKDIR, ctx[0], PLAIN(1), ctx[2] & 0xffff);
}

int kretfunc__do_mkdirat(u64 *ctx) {
    return send_kept(F_MKDIR, (s32)ctx[3]);
}

// int security_path_mknod(const struct path *dir, struct dentry *, umode_t, unsigned dev). open(O_CREAT) and bind come
// here too, but not back through do_mknodat: only what nothing else tells is kept, device nodes, fifos and sockets.
int kfunc__security_path_mknod(u64 *ctx) {
    u32 kind = ctx[2] & S_IFMT_BITS;
    if (kind != S_IFCHR_BITS && kind != S_IFBLK_BITS && kind != S_IFIFO_BITS && kind != S_IFSOCK_BITS)
        return 0;
    return keep_child(F_MKNOD, ctx[0], PLAIN(1), ctx[2] & 0xffff);
}

int kretfunc__do_mknodat(u64 *ctx) {
    return send_kept(F_MKNOD, (s32)ctx[4]);
}

// int unix_bind(struct socket *, struct sockaddr *, int): makes a file, but in the abstract space
int kretfunc__unix_bind(u64 *ctx) {
    return send_kept(F_MKNOD, (s32)ctx[3]);
}

// int security_path_rename(const struct path *, struct dentry *, const struct path *, struct dentry *, unsigned flags)
int kfunc__security_path_rename(u64 *ctx) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_RENAME, 0);
    u64 at = put_numbers(frame, HEADER, (u32)ctx[4], 0, 0);
    at = put_child(frame, at, T_PATH, ctx[0], PLAIN(1));
    at = put_child(frame, at, T_PATH_TO, ctx[2], PLAIN(3));
    keep(frame, at, F_RENAME);
    return 0;
}

int kretfunc__do_renameat2(u64 *ctx) {
    return send_kept(F_RENAME, (s32)ctx[5]);
}

// int security_path_link(struct dentry *old, const struct path *dir, struct dentry *new)
int kfunc__security_path_link(u64 *ctx) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_LINK, 0);
    // A hard link stays on its mount.
    u64 at = put_child(frame, HEADER, T_PATH, ctx[1], PLAIN(0));
    at = put_child(frame, at, T_PATH_TO, ctx[1], PLAIN(2));
    keep(frame, at, F_LINK);
    return 0;
}

int kretfunc__do_linkat(u64 *ctx) {
    return send_kept(F_LINK, (s32)ctx[5]);
}

// int security_path_symlink(const struct path *dir, struct dentry *, const char *target)
int kfunc__security_path_symlink(u64 *ctx) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_SYMLINK, 0);
    u64 at = put_child(frame, HEADER, T_PATH, ctx[0], PLAIN(1));
    at = put_string(frame, at, T_TARGET, ctx[2]);
    keep(frame, at, F_SYMLINK);
    return 0;
}

int kretfunc__do_symlinkat(u64 *ctx) {
    return send_kept(F_SYMLINK, (s32)ctx[3]);
}

static __always_inline int changed(u32 type, u64 path, s64 ret, u64 a, u64 b, u32 volume) {
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, type, ret);
    u64 at = put_numbers(frame, HEADER, a, b, 0);
    at = put_path_of(frame, at, T_PATH, path);
    emit_small(frame, at, type, volume);
    return 0;
}

// int chmod_common(const struct path *, umode_t)
int kretfunc__chmod_common(u64 *ctx) {
    return changed(F_CHMOD, ctx[0], (s32)ctx[2], ctx[1] & 0xffff, 0, 0);
}

// int chown_common(const struct path *, uid_t, gid_t): -1 leaves one as it is
int kretfunc__chown_common(u64 *ctx) {
    return changed(F_CHOWN, ctx[0], (s32)ctx[3], (u32)ctx[1], (u32)ctx[2], 0);
}

// int vfs_utimes(const struct path *, struct timespec64 *)
int kretfunc__vfs_utimes(u64 *ctx) {
    return changed(F_UTIME, ctx[0], (s32)ctx[2], 0, 0, 0);
}

// int do_setxattr(struct user_namespace *, struct dentry *, struct xattr_ctx *): name and value are the kernel's copies
int kretfunc__do_setxattr(u64 *ctx) {
    u64 call = PLAIN(2), size = word(call + OFF_XATTR_SIZE), wanted = size;
    s64 ret = (s32)ctx[3];
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_XATTR, ret);
    u64 at = put_numbers(frame, HEADER, 0, size, 0);
    at = put_inside(frame, at, T_PATH, PLAIN(1));
    at = small(put_string(frame, at, T_NAME, word(call + OFF_XATTR_NAME)));
    if (wanted > ATTRIBUTE_BYTES_MAX)
        wanted = ATTRIBUTE_BYTES_MAX;
    u64 from = small(at + TLV);
    long failed = bpf_probe_read_kernel(frame + from, ATTRIBUTE_BYTES_MAX, (void *)word(call + OFF_XATTR_VALUE));
    tlv(frame + at, T_PAYLOAD, failed ? TLV_FAULT : size > wanted ? TLV_TRUNCATED : 0, wanted, size);
    emit_small(frame, from + wanted, F_XATTR, ret < 0);
    return 0;
}

#define IOCTL_NUMBER 16
#define IOCTL_NUMBER_32 54
// The file system has no such attributes.
#define ENOIOCTLCMD_N (-515)

// int vfs_fileattr_set(struct user_namespace *, struct dentry *, struct fileattr *): FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR
int kfunc__vfs_fileattr_set(u64 *ctx) {
    u32 tid = bpf_get_current_pid_tgid(), none = 0;
    u32 *depth = attribute_depths.lookup_or_try_init(&tid, &none);
    if (depth)
        *depth += 1;
    return 0;
}

int kretfunc__vfs_fileattr_set(u64 *ctx) {
    u64 task = bpf_get_current_task(), regs = word(task + OFF_TASK_STACK) + KERNEL_STACK_BYTES - REGS_BYTES;
    u64 call = word(regs + OFF_REGS_NUMBER);
    u32 tid = bpf_get_current_pid_tgid();
    s64 ret = (s32)ctx[3];
    u32 *depth = attribute_depths.lookup(&tid);
    if (depth && --*depth)
        return 0;
    attribute_depths.delete(&tid);
    u8 *frame = scratch();
    if (!frame || is_tracer() || ret == ENOIOCTLCMD_N)
        return 0;
    // An overlay that copies a file up to be written sets its attributes, which nobody asked for.
    if (call != IOCTL_NUMBER && call != IOCTL_NUMBER_32)
        return 0;
    header_now(frame, F_CHATTR, ret);
    u64 at = put_numbers(frame, HEADER, half(PLAIN(2)), 0, 0);
    at = put_inside(frame, at, T_PATH, PLAIN(1));
    emit_small(frame, at, F_CHATTR, ret < 0);
    return 0;
}

// long removexattr(struct user_namespace *, struct dentry *, const char __user *name)
int kretfunc__removexattr(u64 *ctx) {
    s64 ret = (s32)ctx[3];
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    header_now(frame, F_XATTR, ret);
    u64 at = put_numbers(frame, HEADER, 1, 0, 0);
    at = put_inside(frame, at, T_PATH, PLAIN(1));
    at = put_user_string(frame, at, T_NAME, PLAIN(2));
    emit_small(frame, at, F_XATTR, ret < 0);
    return 0;
}

// long vfs_truncate(const struct path *, loff_t)
int kretfunc__vfs_truncate(u64 *ctx) {
    return changed(F_TRUNCATE, ctx[0], ctx[2], ctx[1], 0, 0);
}

// int do_truncate(struct user_namespace *, struct dentry *, loff_t, unsigned time_attrs, struct file *): ftruncate here
int kretfunc__do_truncate(u64 *ctx) {
    if (!ctx[4] || ctx[3] & ATTR_OPEN_BIT)
        return 0;
    return changed(F_TRUNCATE, ctx[4] + OFF_FILE_PATH, (s32)ctx[5], ctx[2], 0, 0);
}

// int vfs_fallocate(struct file *, int mode, loff_t offset, loff_t len)
int kretfunc__vfs_fallocate(u64 *ctx) {
    if (!regular_inode(ctx[0]))
        return 0;
    return changed(F_ALLOCATE, ctx[0] + OFF_FILE_PATH, (s32)ctx[4], ctx[2] + ctx[3], (u32)ctx[1], 0);
}

// int security_mmap_file(struct file *, unsigned long prot, unsigned long flags): shared, of a file open for writing, so
// that a later mprotect is covered too
int kretfunc__security_mmap_file(u64 *ctx) {
    u32 kind = ctx[2] & MAP_TYPE_BITS;
    if (!ctx[0] || (kind != 1 && kind != 3) || !(half(ctx[0] + OFF_FILE_MODE) & FMODE_WRITE_BIT) || !regular_inode(ctx[0]))
        return 0;
    return changed(F_MMAP, ctx[0] + OFF_FILE_PATH, (s32)ctx[3], ctx[1], ctx[2], 1);
}
