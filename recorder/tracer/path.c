// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 2 of 10: values of variable size. A path is sent as its names from the leaf to the root, each followed by NUL, just
// as the kernel's tree is walked; the host turns it round. So no name is copied twice, and none is cut.

// Names per path, and octets of one path after which no further name is added.
#define DEPTH_MAX 128
#define PATH_BYTES_MAX 4096
// As much where each path is sent twice: a frame has room for two of them, and a name.
#define MOVED_PATH_BYTES_MAX 2400
#define STRING_BYTES_MAX 4096

// One name of a path: adds it and goes to the parent or, at a mount's root, adds nothing and goes to the mount point. The
// kernel's structures have the four words that either needs one after the other.
int loop__names(u64 round) {
    u8 *frame = scratch();
    if (!frame)
        return 1;
    struct walk *walk = &((struct scratch *)frame)->walk;
    u64 dentry = walk->dentry, mount = walk->mnt - OFF_MOUNT_MNT, words[4] = {};
    int at_root = dentry == walk->root;
    if (bpf_probe_read_kernel(
            words, sizeof words, (void *)(at_root ? mount + OFF_MOUNT_PARENT : dentry + OFF_DENTRY_HASH_PPREV))) {
        walk->flags = TLV_FAULT;
        return 1;
    }
    if (at_root) {
        if (words[0] == mount) {
            walk->flags = 0;
            return 1;
        }
        walk->dentry = words[1];
        walk->mnt = words[0] + OFF_MOUNT_MNT;
        walk->root = word(walk->mnt + OFF_VFSMOUNT_ROOT);
        return 0;
    }
    u64 end = small(walk->end);
    long length = bpf_probe_read_kernel_str(frame + end, 256, (void *)words[3]);
    if (length < 0) {
        walk->flags = TLV_FAULT;
        return 1;
    }
    walk->end = end += length;
    if (words[1] == dentry) {
        // A root that is no mount's root: pipes, memfd, or a tree that was unmounted.
        walk->flags = TLV_DETACHED;
        return 1;
    }
    walk->dentry = words[1];
    return end - walk->begin > walk->limit;
}

// Appends the names from `dentry` on `mnt` to the root at `at`; returns the new end.
static __always_inline u64 put_names(u8 *frame, u64 at, u32 type, u64 mnt, u64 dentry, u64 limit) {
    u64 begin = small(at), parent = word(dentry + OFF_DENTRY_PARENT);
    struct walk *walk = &((struct scratch *)frame)->walk;
    walk->mnt = mnt;
    walk->root = word(mnt + OFF_VFSMOUNT_ROOT);
    walk->dentry = dentry;
    walk->begin = begin;
    walk->end = begin + TLV;
    walk->limit = limit;
    walk->flags = TLV_TRUNCATED;
    ROUNDS(DEPTH_MAX, BODY_NAMES);
    u64 end = small(walk->end), captured = small(end - begin - TLV), flags = walk->flags;
    u32 cut = flags == TLV_TRUNCATED;
    if (parent != dentry && !word(dentry + OFF_DENTRY_HASH_PPREV))
        flags |= TLV_DELETED;
    tlv(frame + begin, type, flags, captured, cut ? 0xffffffff : captured);
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
// path within its own file system: another walk, in which no dentry is a mount's root.
static __always_inline u64 put_path(u8 *frame, u64 at, u32 type, u64 mnt, u64 dentry) {
    u32 zero = 0;
    struct moved *moved = mounts_moved.lookup(&zero);
    if (!moved || !moved->since)
        return put_names(frame, at, type, mnt, dentry, PATH_BYTES_MAX);
    at = put_names(frame, at, type, mnt, dentry, MOVED_PATH_BYTES_MAX);
    at = put_origin(frame, at, mnt, dentry);
    return put_names(frame, at, T_ORIGIN_PATH, 0, dentry, MOVED_PATH_BYTES_MAX);
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
