// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 3 of 10: random numbers that a replay draws again. What the agent's threads get from the kernel's generator, by
// getrandom(2) or from /dev/urandom and /dev/random, is replaced on its way out by a stream of ChaCha20 (RFC 8439) whose
// key the host gave and whose nonce says which thread it is: the how-manieth child of the how-manieth child. So it
// depends on nothing that time or load can change, and no two threads share a stream.
//
// The kernel's own octets stay where anything is not as expected: they are as random, and only a replay differs.

#define DRAWN_BLOCK 64
// What one read may ask for.
#define DRAWN_BYTES_MAX 65536

// What a block is for, in the nonce's first word beside the upper half of its number.
#define FOR_DRAW 0
#define FOR_CHILD (1u << 30)
#define FOR_FIRST (2u << 30)

struct drawing {
    u64 first_threads;
    u32 key[8];
    // The agent's control group, one below the root; 0 as long as nobody draws.
    u64 cgroup;
};

// A thread that may draw.
struct drawer {
    u64 lineage, children, blocks;
};

BPF_ARRAY(drawing, struct drawing, 1);
BPF_F_TABLE("hash", u32, struct drawer, drawers, 32768, BPF_F_NO_PREALLOC);

// "expand 32-byte k"
#define SIGMA_0 0x61707865
#define SIGMA_1 0x3320646e
#define SIGMA_2 0x79622d32
#define SIGMA_3 0x6b206574

#define ROTATED(value, by) ((value) << (by) | (value) >> (32 - (by)))
#define QUARTER_ROUND(a, b, c, d)                                                                                      \
    a += b, d = ROTATED(d ^ a, 16);                                                                                    \
    c += d, b = ROTATED(b ^ c, 12);                                                                                    \
    a += b, d = ROTATED(d ^ a, 8);                                                                                     \
    c += d, b = ROTATED(b ^ c, 7)

// One block of key stream.
static __always_inline void chacha(u32 *x, struct drawing *of, u32 use, u64 number, u64 lineage) {
    u32 i, place = use | (u32)(number >> 32);
    x[0] = SIGMA_0, x[1] = SIGMA_1, x[2] = SIGMA_2, x[3] = SIGMA_3;
    x[4] = of->key[0], x[5] = of->key[1], x[6] = of->key[2], x[7] = of->key[3];
    x[8] = of->key[4], x[9] = of->key[5], x[10] = of->key[6], x[11] = of->key[7];
    x[12] = number, x[13] = place, x[14] = lineage, x[15] = lineage >> 32;
#pragma clang loop unroll(disable)
    for (i = 0; i < 10; i++) {
        QUARTER_ROUND(x[0], x[4], x[8], x[12]);
        QUARTER_ROUND(x[1], x[5], x[9], x[13]);
        QUARTER_ROUND(x[2], x[6], x[10], x[14]);
        QUARTER_ROUND(x[3], x[7], x[11], x[15]);
        QUARTER_ROUND(x[0], x[5], x[10], x[15]);
        QUARTER_ROUND(x[1], x[6], x[11], x[12]);
        QUARTER_ROUND(x[2], x[7], x[8], x[13]);
        QUARTER_ROUND(x[3], x[4], x[9], x[14]);
    }
    x[0] += SIGMA_0, x[1] += SIGMA_1, x[2] += SIGMA_2, x[3] += SIGMA_3;
    x[4] += of->key[0], x[5] += of->key[1], x[6] += of->key[2], x[7] += of->key[3];
    x[8] += of->key[4], x[9] += of->key[5], x[10] += of->key[6], x[11] += of->key[7];
    x[12] += (u32)number, x[13] += place, x[14] += (u32)lineage, x[15] += (u32)(lineage >> 32);
}

static __always_inline u64 lineage_of(struct drawing *of, u32 use, u64 number, u64 parent) {
    u32 x[16];
    chacha(x, of, use, number, parent);
    return (u64)x[1] << 32 | x[0];
}

static __always_inline struct drawing *drawing_here(void) {
    u32 zero = 0;
    struct drawing *of = drawing.lookup(&zero);
    return of && of->cgroup && bpf_get_current_ancestor_cgroup_id(1) == of->cgroup ? of : 0;
}

// This thread's; one that is not known, as the agent's first, begins a line of its own.
static __always_inline struct drawer *drawer_here(struct drawing *of) {
    u32 tid = bpf_get_current_pid_tgid();
    struct drawer *known = drawers.lookup(&tid);
    if (known)
        return known;
    struct drawer first = {.lineage = lineage_of(of, FOR_FIRST, fetch_increment(&of->first_threads), 0)};
    drawers.update(&tid, &first);
    return drawers.lookup(&tid);
}

static __always_inline void forked_drawer(u64 child) {
    struct drawing *of = drawing_here();
    struct drawer *parent = of ? drawer_here(of) : 0;
    if (!parent)
        return;
    u32 tid = half(child + OFF_TASK_PID);
    struct drawer born = {.lineage = lineage_of(of, FOR_CHILD, parent->children++, parent->lineage)};
    drawers.update(&tid, &born);
}

// A thread that executes a program gets its process's number.
static __always_inline void executed_drawer(u32 before) {
    u32 tid = bpf_get_current_pid_tgid();
    struct drawer *known = before == tid ? 0 : drawers.lookup(&before);
    if (!known)
        return;
    struct drawer mine = *known;
    drawers.update(&tid, &mine);
    drawers.delete(&before);
}

static __always_inline void forget_drawer(u64 task) {
    u32 tid = half(task + OFF_TASK_PID);
    drawers.delete(&tid);
}

// Where the octets lie that were just written through an iterator, 0 if not in one piece of the caller's memory.
static __always_inline u64 written_through(u64 iter, u64 count) {
    u64 place = word(iter + OFF_ITER_IOV), offset = word(iter + OFF_ITER_OFFSET);
    u8 kind = quarter(iter + OFF_ITER_TYPE);
    if (kind == ITER_UBUF_TYPE)
        return offset < count ? 0 : place + offset - count;
    if (kind != ITER_IOVEC_TYPE)
        return 0;
    // An iterator that is done with a piece stands before the next one.
    if (!offset)
        place -= 16, offset = word(place + 8);
    return offset < count ? 0 : word(place) + offset - count;
}

// One block for a read, or what is left of it.
int loop__blocks(u64 round) {
    u8 *frame = scratch();
    u32 zero = 0, x[16];
    struct drawing *of = drawing.lookup(&zero);
    if (!frame || !of)
        return 1;
    struct draw *draw = &((struct scratch *)frame)->draw;
    u64 left = draw->left, last = left > DRAWN_BLOCK ? DRAWN_BLOCK - 1 : left - 1;
    // A bound that the verifier of Linux 6.1 sees.
    asm volatile("%0 &= 0x3f" : "+r"(last));
    chacha(x, of, FOR_DRAW, draw->block, draw->lineage);
    if (bpf_probe_write_user((void *)draw->to, x, last + 1)) {
        // The page is not there any more: later reads go on as if this one had been served.
        draw->block += (left - 1) / DRAWN_BLOCK + 1;
        return 1;
    }
    draw->block++;
    draw->to += DRAWN_BLOCK;
    draw->left = left - DRAWN_BLOCK;
    return left <= DRAWN_BLOCK;
}

// ssize_t get_random_bytes_user(struct iov_iter *)
int kretfunc__get_random_bytes_user(u64 *ctx) {
    struct drawing *of = drawing_here();
    struct drawer *mine = of ? drawer_here(of) : 0;
    u8 *frame = scratch();
    s64 count = ctx[1];
    if (!mine || !frame || count <= 0 || count > DRAWN_BYTES_MAX)
        return 0;
    struct draw *draw = &((struct scratch *)frame)->draw;
    draw->to = written_through(ctx[0], count);
    if (!draw->to)
        return 0;
    draw->left = count;
    draw->block = mine->blocks;
    draw->lineage = mine->lineage;
    ROUNDS(DRAWN_BYTES_MAX / DRAWN_BLOCK, BODY_BLOCKS);
    mine->blocks = draw->block;
    return 0;
}
