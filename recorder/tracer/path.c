// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 2 of 9: values of variable size. A path is sent as its names from the leaf to the root, each followed by NUL, just
// as the kernel's tree is walked; the host turns it round. So no name is copied twice, and none is cut.

// Names per path, and octets of one path after which no further name is added.
#define DEPTH_MAX 128
#define PATH_BYTES_MAX 4096
// As much where each path is sent twice: a frame has room for two of them, and a name.
#define MOVED_PATH_BYTES_MAX 2400
#define STRING_BYTES_MAX 4096

// All ones where a and b are equal, else 0. No branch: the verifier walks every way through a loop's body in every
// round, so that a body with an if and an else would take it 2^DEPTH_MAX steps. The barriers keep clang from making one.
static __always_inline u64 equal_mask(u64 a, u64 b) {
    u64 x = a ^ b;
    asm volatile("" : "+r"(x));
    x |= -x;
    asm volatile("" : "+r"(x));
    x >>= 63;
    asm volatile("" : "+r"(x));
    return x - 1;
}

// Appends the names from `dentry` on `mnt` to the root at `at`; returns the new end. Each round either adds a name and goes to the parent,
// or, at a mount's root, adds nothing and goes to the mount point; both read four words, of which the second is the next.
static __always_inline u64 put_names(u8 *frame, u64 at, u32 type, u64 mnt, u64 dentry, u64 limit) {
    u64 begin = small(at), end = small(at + TLV), flags = TLV_TRUNCATED, i;
    u64 root = word(mnt + OFF_VFSMOUNT_ROOT), words[4] = {};
    u64 unhashed = ~equal_mask(word(dentry + OFF_DENTRY_HASH_PPREV), 0) | equal_mask(word(dentry + OFF_DENTRY_PARENT), dentry);
#pragma clang loop unroll(disable)
    for (i = 0; i < DEPTH_MAX; i++) {
        u64 at_root = equal_mask(dentry, root), mount = mnt - OFF_MOUNT_MNT;
        u64 from = (at_root & (mount + OFF_MOUNT_PARENT)) | (~at_root & (dentry + OFF_DENTRY_HASH_PPREV));
        if (bpf_probe_read_kernel(words, sizeof words, (void *)from)) {
            flags = TLV_FAULT;
            break;
        }
        if (at_root & equal_mask(words[0], mount)) {
            flags = 0;
            break;
        }
        u64 size = ~at_root & 256;
        asm volatile("%0 &= 0x1ff" : "+r"(size));
        long length = bpf_probe_read_kernel_str(frame + end, size, (void *)words[3]);
        if (length < 0) {
            flags = TLV_FAULT;
            break;
        }
        end = small(end + length);
        if (~at_root & equal_mask(words[1], dentry)) {
            // A root that is no mount's root: pipes, memfd, or a tree that was unmounted.
            flags = TLV_DETACHED;
            break;
        }
        if (end - begin > limit)
            break;
        dentry = words[1];
        mnt = (at_root & (words[0] + OFF_MOUNT_MNT)) | (~at_root & mnt);
        root = word(mnt + OFF_VFSMOUNT_ROOT);
    }
    u64 captured = small(end - begin - TLV), cut = -(flags & TLV_TRUNCATED);
    flags |= ~unhashed & TLV_DELETED;
    tlv(frame + begin, type, flags, captured, captured | cut);
    return end;
}

// Which file it is, whatever it is mounted on: its file system's device and magic number, its inode there, and the namespace
// and number of the mount through which it was reached; the namespace is 0 for a tree that is mounted nowhere.
static __always_inline u64 put_origin(u8 *frame, u64 at, u64 mnt, u64 dentry) {
    u64 begin = small(at), sb = word(dentry + OFF_DENTRY_SB), mount = mnt - OFF_MOUNT_MNT;
    tlv(frame + begin, T_ORIGIN, 0, 32, 32);
    *(u64 *)(frame + begin + TLV) = half(sb + OFF_SB_DEV);
    *(u64 *)(frame + begin + TLV + 8) = word(word(dentry + OFF_DENTRY_INODE) + OFF_INODE_INO);
    *(u64 *)(frame + begin + TLV + 16) = word(sb + OFF_SB_MAGIC);
    *(u32 *)(frame + begin + TLV + 24) = half(word(mount + OFF_MOUNT_NS) + OFF_MNT_NS_INUM);
    *(u32 *)(frame + begin + TLV + 28) = half(mount + OFF_MOUNT_ID);
    return small(begin + TLV + 32);
}

// Appends the path of `dentry` on `mnt` at `at`; returns the new end. Once mounts were moved, its origin follows, and its
// path within its own file system: the same loop again, in which no dentry is a mount's root.
static __always_inline u64 put_path(u8 *frame, u64 at, u32 type, u64 mnt, u64 dentry) {
    u32 zero = 0, pass;
    u64 *set = mounts_moved.lookup(&zero), moved = set ? *set : 0;
    u64 limit = PATH_BYTES_MAX - (moved & 1) * (PATH_BYTES_MAX - MOVED_PATH_BYTES_MAX);
#pragma clang loop unroll(disable)
    for (pass = 0; pass < 2; pass++) {
        at = put_names(frame, at, pass ? T_ORIGIN_PATH : type, pass ? 0 : mnt, dentry, limit);
        if (!moved)
            break;
        if (!pass)
            at = put_origin(frame, at, mnt, dentry);
    }
    return at;
}

// The path of `dentry` in its own file system, where nothing says through which mount it was reached, and its origin.
static __always_inline u64 put_inside(u8 *frame, u64 at, u32 type, u64 dentry) {
    at = put_names(frame, at, type, 0, dentry, PATH_BYTES_MAX);
    return put_origin(frame, at, 0, dentry);
}

static __always_inline u64 put_path_of(u8 *frame, u64 at, u32 type, u64 path) {
    u64 parts[2] = {};
    bpf_probe_read_kernel(parts, sizeof parts, (void *)path);
    return put_path(frame, at, type, parts[0], parts[1]);
}

// Appends a string of the kernel's, without its NUL.
static __always_inline u64 put_string(u8 *frame, u64 at, u32 type, u64 string) {
    u64 begin = small(at), from = small(at + TLV);
    long length = bpf_probe_read_kernel_str(frame + from, STRING_BYTES_MAX + 1, (void *)string);
    if (length <= 0) {
        tlv(frame + begin, type, TLV_FAULT, 0, 0);
        return from;
    }
    u32 cut = length > STRING_BYTES_MAX;
    tlv(frame + begin, type, cut ? TLV_TRUNCATED : 0, length - 1, cut ? 0xffffffff : length - 1);
    return small(from + length - 1);
}

static __always_inline u64 put_user_string(u8 *frame, u64 at, u32 type, u64 string) {
    u64 begin = small(at), from = small(at + TLV);
    long length = bpf_probe_read_user_str(frame + from, STRING_BYTES_MAX + 1, (void *)string);
    if (length <= 0) {
        tlv(frame + begin, type, TLV_FAULT, 0, 0);
        return from;
    }
    u32 cut = length > STRING_BYTES_MAX;
    tlv(frame + begin, type, cut ? TLV_TRUNCATED : 0, length - 1, cut ? 0xffffffff : length - 1);
    return small(from + length - 1);
}

// device, inode, mode, open flags
static __always_inline u64 put_file(u8 *frame, u64 at, u64 inode, u32 mode, u32 open_flags) {
    u64 begin = small(at);
    tlv(frame + begin, T_FILE, 0, 24, 24);
    *(u64 *)(frame + begin + TLV) = half(word(inode + OFF_INODE_SB) + OFF_SB_DEV);
    *(u64 *)(frame + begin + TLV + 8) = word(inode + OFF_INODE_INO);
    *(u32 *)(frame + begin + TLV + 16) = mode;
    *(u32 *)(frame + begin + TLV + 20) = open_flags;
    return small(begin + TLV + 24);
}

static __always_inline u64 put_numbers(u8 *frame, u64 at, u64 a, u64 b, u64 c) {
    u64 begin = small(at);
    tlv(frame + begin, T_NUMBERS, 0, 24, 24);
    *(u64 *)(frame + begin + TLV) = a;
    *(u64 *)(frame + begin + TLV + 8) = b;
    *(u64 *)(frame + begin + TLV + 16) = c;
    return small(begin + TLV + 24);
}

static __always_inline u64 put_comm(u8 *frame, u64 at, u64 task) {
    u64 begin = small(at);
    tlv(frame + begin, T_COMM, 0, 16, 16);
    if (bpf_probe_read_kernel(frame + begin + TLV, 16, (void *)(task + OFF_TASK_COMM)))
        tlv(frame + begin, T_COMM, TLV_FAULT, 16, 16);
    return small(begin + TLV + 16);
}

static __always_inline u64 put_parent(u8 *frame, u64 at, u64 parent) {
    u64 begin = small(at);
    tlv(frame + begin, T_PARENT, 0, 16, 16);
    *(u64 *)(frame + begin + TLV) = half(parent + OFF_TASK_TGID);
    *(u64 *)(frame + begin + TLV + 8) = start_of(parent);
    return small(begin + TLV + 16);
}

// uid, gid, suid, sgid, euid, egid, fsuid, fsgid (u32 each), then permitted, effective and bounding capabilities.
struct creds {
    u32 ids[8];
    u64 permitted, effective, bounding;
};

static __always_inline long creds_of(struct creds *creds, u64 cred) {
    long failed = bpf_probe_read_kernel(creds->ids, sizeof creds->ids, (void *)(cred + OFF_CRED_UID));
    creds->permitted = word(cred + OFF_CRED_PERMITTED);
    creds->effective = word(cred + OFF_CRED_EFFECTIVE);
    creds->bounding = word(cred + OFF_CRED_BOUNDING);
    return failed;
}

static __always_inline u64 put_creds(u8 *frame, u64 at, u64 cred) {
    u64 begin = small(at);
    struct creds creds = {};
    long failed = creds_of(&creds, cred);
    tlv(frame + begin, T_CRED, failed ? TLV_FAULT : 0, sizeof creds, sizeof creds);
    __builtin_memcpy(frame + begin + TLV, &creds, sizeof creds);
    return small(begin + TLV + sizeof creds);
}

// Sends what was built in the small part of a scratch.
static __always_inline void emit_small(u8 *frame, u64 end, u32 type, u32 volume) {
    emit(frame, small(end), type, volume);
}
