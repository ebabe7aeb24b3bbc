// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 6 of 10: open files. Reads and writes are folded per (open file, process) and sent when the process closes the
// file, after 2.5 s to 5 s while there is something new (tracer.py asks), and when the run is drained.

#define S_IFMT_BITS 0170000
#define S_IFREG_BITS 0100000
#define FMODE_CREATED_BIT 0x100000
#define FMODE_NOACCOUNT_BIT 0x20000000
#define FMODE_WRITE_BIT 2
#define FMODE_EXEC_FLAG 0x20
#define IO_FILES_MAX 65536
#define NO_SPACE -28

struct io_key {
    u64 file;
    u32 tgid, pad;
};

struct io {
    u64 inode;
    struct owner owner;
    u64 reads, bytes_read, writes, bytes_written;
    u64 first, last;
    // Since when it has news.
    u64 since_ns;
    // Octets asked for in asynchronous calls whose result is not known here.
    u64 requested;
    // Writes that failed for want of room on the disk.
    u64 refused;
};

BPF_HASH(ios, struct io_key, struct io, IO_FILES_MAX);
// Threads inside sendfile. The same function copies for copy_file_range, which counts itself, and for an overlay that is
// about to write to a lower layer's file, which is no access of the program's.
BPF_F_TABLE("hash", u32, u32, sending, 32768, BPF_F_NO_PREALLOC);

// Regular files that a process opened: not the inner files that overlayfs opens for itself.
static __always_inline u64 regular_inode(u64 file) {
    if (half(file + OFF_FILE_MODE) & FMODE_NOACCOUNT_BIT)
        return 0;
    u64 inode = word(file + OFF_FILE_INODE);
    if ((quarter(inode + OFF_INODE_MODE) & S_IFMT_BITS) != S_IFREG_BITS)
        return 0;
    return inode;
}

static __always_inline u64 put_io(u8 *frame, struct io *io, u32 flags) {
    u64 at = HEADER;
    header_of(frame, F_IO, io->refused ? NO_SPACE : 0, &io->owner);
    ((struct header *)frame)->flags |= flags | (io->requested ? FRAME_REQUESTED : 0);
    tlv(frame + at, T_IO, 0, 56, 56);
    at += TLV;
    *(u64 *)(frame + at) = io->reads;
    *(u64 *)(frame + at + 8) = io->bytes_read;
    *(u64 *)(frame + at + 16) = io->writes;
    *(u64 *)(frame + at + 24) = io->bytes_written;
    *(u64 *)(frame + at + 32) = io->first;
    *(u64 *)(frame + at + 40) = io->last;
    *(u64 *)(frame + at + 48) = io->requested;
    return at + 56;
}

static __always_inline void send_io(u64 file, struct io *io, u32 flags) {
    u8 *frame = scratch();
    if (!frame)
        return;
    u64 at = put_io(frame, io, flags);
    at = put_file(frame, at, io->inode, quarter(io->inode + OFF_INODE_MODE), 0);
    at = put_path_of(frame, at, T_PATH, file + OFF_FILE_PATH);
    emit_small(frame, at, F_IO, 1);
}

// The entry can outlive the file when that was closed elsewhere: then the path is not known any more.
static __always_inline void send_io_nameless(struct io *io) {
    u8 *frame = scratch();
    if (!frame)
        return;
    u64 at = put_io(frame, io, FRAME_FLUSH);
    tlv(frame + at, T_PATH, TLV_FAULT, 0, 0);
    emit_small(frame, at + TLV, F_IO, 1);
}

// The file went away without this process closing it, and its memory is another file now.
static __always_inline void forget_io(struct io_key *key, struct io *io) {
    if (io->reads + io->writes + io->refused)
        send_io_nameless(io);
    ios.delete(key);
}

static __always_inline void add_io(struct io *io, u32 write, s64 octets, u64 end, u64 requested) {
    u64 begin = end - octets;
    if (!(io->reads + io->writes + io->refused))
        io->since_ns = bpf_ktime_get_boot_ns();
    if (octets < 0) {
        __sync_fetch_and_add(&io->refused, 1);
        return;
    }
    if (write) {
        __sync_fetch_and_add(&io->writes, 1);
        __sync_fetch_and_add(&io->bytes_written, octets);
    } else {
        __sync_fetch_and_add(&io->reads, 1);
        __sync_fetch_and_add(&io->bytes_read, octets);
    }
    if (requested)
        __sync_fetch_and_add(&io->requested, requested);
    if (octets && end != ~0ULL) {
        if (begin < io->first)
            io->first = begin;
        if (end > io->last)
            io->last = end;
    }
}

// Counts one call. `end` is the offset behind it, ~0 where it is not known. Of those that failed only writes to a full
// disk are of interest.
static __always_inline int count_io(u64 file, u32 write, s64 octets, u64 end, u64 requested) {
    struct io_key key = {.file = file, .tgid = bpf_get_current_pid_tgid() >> 32};
    if ((octets < 0 && !(write && octets == NO_SPACE)) || key.tgid == tracer())
        return 0;
    u64 inode = regular_inode(file);
    if (!inode)
        return 0;
    struct io *io = ios.lookup(&key);
    if (io && io->inode != inode) {
        forget_io(&key, io);
        io = 0;
    }
    if (io) {
        folded_now(&io->owner, io->reads + io->writes + io->refused);
        add_io(io, write, octets, end, requested);
        return 0;
    }
    struct io fresh = {.inode = inode, .first = ~0ULL};
    owner_now(&fresh.owner);
    add_io(&fresh, write, octets, end, requested);
    if (ios.update(&key, &fresh))
        not_built(F_IO, 1);
    return 0;
}

// ssize_t vfs_read(struct file *, char *, size_t, loff_t *)
int kretfunc__vfs_read(u64 *ctx) {
    return count_io(ctx[0], 0, ctx[4], ctx[3] ? word(ctx[3]) : ~0ULL, 0);
}

// ssize_t vfs_write(struct file *, const char *, size_t, loff_t *)
int kretfunc__vfs_write(u64 *ctx) {
    return count_io(ctx[0], 1, ctx[4], ctx[3] ? word(ctx[3]) : ~0ULL, 0);
}

// ssize_t vfs_readv(struct file *, const struct iovec *, unsigned long, loff_t *, rwf_t)
int kretfunc__vfs_readv(u64 *ctx) {
    return count_io(ctx[0], 0, ctx[5], ctx[3] ? word(ctx[3]) : ~0ULL, 0);
}

// ssize_t vfs_writev(struct file *, const struct iovec *, unsigned long, loff_t *, rwf_t)
int kretfunc__vfs_writev(u64 *ctx) {
    return count_io(ctx[0], 1, ctx[5], ctx[3] ? word(ctx[3]) : ~0ULL, 0);
}

// ssize_t do_sendfile(int out, int in, loff_t *, size_t, loff_t)
int kfunc__do_sendfile(u64 *ctx) {
    u32 tid = bpf_get_current_pid_tgid(), one = 1;
    if (sending.update(&tid, &one))
        not_built(F_IO, 1);
    return 0;
}

int kretfunc__do_sendfile(u64 *ctx) {
    u32 tid = bpf_get_current_pid_tgid();
    sending.delete(&tid);
    return 0;
}

// long do_splice_direct(struct file *in, loff_t *, struct file *out, loff_t *, size_t, unsigned)
int kretfunc__do_splice_direct(u64 *ctx) {
    u32 tid = bpf_get_current_pid_tgid();
    if (!sending.lookup(&tid))
        return 0;
    count_io(ctx[0], 0, ctx[6], word(ctx[1]), 0);
    count_io(ctx[2], 1, ctx[6], word(ctx[3]), 0);
    return 0;
}

// long splice_file_to_pipe(struct file *, struct pipe_inode_info *, loff_t *, size_t, unsigned)
int kretfunc__splice_file_to_pipe(u64 *ctx) {
    return count_io(ctx[0], 0, ctx[5], word(ctx[2]), 0);
}

// long do_splice(struct file *in, loff_t *, struct file *out, loff_t *, size_t, unsigned): pipe to file here
int kretfunc__do_splice(u64 *ctx) {
    return count_io(ctx[2], 1, ctx[6], ctx[3] ? word(ctx[3]) : ~0ULL, 0);
}

// ssize_t vfs_copy_file_range(struct file *, loff_t, struct file *, loff_t, size_t, unsigned)
int kretfunc__vfs_copy_file_range(u64 *ctx) {
    count_io(ctx[0], 0, ctx[6], ctx[1] + ctx[6], 0);
    count_io(ctx[2], 1, ctx[6], ctx[3] + ctx[6], 0);
    return 0;
}

// int io_read(struct io_kiocb *, unsigned): 0 when it was done at once, else the result comes later and elsewhere.
static __always_inline int count_uring(u64 request, u32 write, s64 ret) {
    s32 done = half(request + OFF_URING_RESULT);
    u64 file = word(request + OFF_URING_FILE);
    if (ret == 0)
        return count_io(file, write, done, ~0ULL, 0);
    if (ret == URING_QUEUED)
        return count_io(file, write, 0, ~0ULL, half(request + OFF_URING_RW_LEN));
    return 0;
}

int kretfunc__io_read(u64 *ctx) {
    return count_uring(ctx[0], 0, (s32)ctx[2]);
}

int kretfunc__io_write(u64 *ctx) {
    return count_uring(ctx[0], 1, (s32)ctx[2]);
}

// int aio_read(struct kiocb *, const struct iocb *, bool vectored, bool compat): the result comes later.
int kretfunc__aio_read(u64 *ctx) {
    return count_io(word(ctx[0] + OFF_KIOCB_FILE), 0, 0, ~0ULL, word(ctx[1] + OFF_IOCB_NBYTES));
}

int kretfunc__aio_write(u64 *ctx) {
    return count_io(word(ctx[0] + OFF_KIOCB_FILE), 1, 0, ~0ULL, word(ctx[1] + OFF_IOCB_NBYTES));
}

// struct file *do_filp_open(int dfd, struct filename *, const struct open_flags *)
int kretfunc__do_filp_open(u64 *ctx) {
    s64 result = ctx[3];
    u32 open_flags = half(ctx[2] + OFF_OPEN_FLAG);
    u8 *frame = scratch();
    // What is opened to be executed is named by the exec event.
    if (!frame || open_flags & FMODE_EXEC_FLAG || is_tracer())
        return 0;
    u32 failed = result < 0 && result >= -4095;
    // Before this frame is begun: what is told of another file is built in the same place.
    if (!failed) {
        struct io_key key = {.file = result, .tgid = bpf_get_current_pid_tgid() >> 32};
        struct io *stale = ios.lookup(&key);
        if (stale)
            forget_io(&key, stale);
    }
    header_now(frame, F_OPEN, failed ? result : 0);
    u64 at = HEADER;
    if (failed) {
        tlv(frame + at, T_FILE, TLV_FAULT, 24, 24);
        *(u64 *)(frame + at + TLV) = 0;
        *(u64 *)(frame + at + TLV + 8) = 0;
        *(u32 *)(frame + at + TLV + 16) = quarter(ctx[2] + OFF_OPEN_MODE);
        *(u32 *)(frame + at + TLV + 20) = open_flags;
        at = put_string(frame, at + TLV + 24, T_NAME, word(ctx[1] + OFF_FILENAME_NAME));
    } else {
        u64 inode = word(result + OFF_FILE_INODE);
        if (half(result + OFF_FILE_MODE) & FMODE_CREATED_BIT)
            ((struct header *)frame)->flags |= FRAME_CREATED;
        at = put_file(frame, at, inode, quarter(inode + OFF_INODE_MODE), open_flags);
        at = put_path_of(frame, at, T_PATH, result + OFF_FILE_PATH);
    }
    emit_small(frame, at, F_OPEN, 1);
    return 0;
}

// int filp_close(struct file *, fl_owner_t)
int kfunc__filp_close(u64 *ctx) {
    u64 file = ctx[0];
    struct io_key key = {.file = file, .tgid = bpf_get_current_pid_tgid() >> 32};
    u32 last = word(file + OFF_FILE_COUNT) == 1;
    struct io *io = ios.lookup(&key);
    if (io && io->inode != word(file + OFF_FILE_INODE)) {
        forget_io(&key, io);
        io = 0;
    }
    if (io) {
        struct io copy = *io;
        ios.delete(&key);
        // What a sweep has told already is not told as a file that was neither read nor written.
        if (copy.reads + copy.writes + copy.refused)
            send_io(file, &copy, last ? FRAME_CLOSED : 0);
        return 0;
    }
    u8 *frame = scratch();
    if (!last || !frame || key.tgid == tracer() || !regular_inode(file))
        return 0;
    header_now(frame, F_CLOSE, 0);
    u64 inode = word(file + OFF_FILE_INODE);
    u64 at = put_file(frame, HEADER, inode, quarter(inode + OFF_INODE_MODE), 0);
    at = put_path_of(frame, at, T_PATH, file + OFF_FILE_PATH);
    emit_small(frame, at, F_CLOSE, 1);
    return 0;
}
