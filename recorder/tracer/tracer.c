// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// The tracer's BPF program, part 1 of 10: frames, maps, and the one place that emits. The wire format is specified in
// schemas/wire.md. compiled.py puts the parts together behind a generated header of offsets (OFF_*, see offsets.py), so
// that no kernel header has to be parsed for what is read here.
//
// Rules that hold in all parts:
// - Sequence numbers are bumped before every attempt to emit; a frame that did not get in leaves a gap, and is counted.
// - Files, processes and names are built in `scratch`, one per CPU. Programs that can run in an interrupt (TCP's state change,
//   heartbeats) must not touch it: they build their frame elsewhere.
// - A value that could not be read is TLV_FAULT, one that was cut is TLV_TRUNCATED: never an empty value that looks whole.
#define BPF_LICENSE Dual BSD/GPL

#define MAGIC_FRAME 0x31584242
#define WIRE_VERSION 1
#define CPUS_MAX 8
#define TYPES_MAX 96

#define F_HEARTBEAT 1
#define F_EXEC 16
#define F_EXEC_FAILED 17
#define F_FORK 18
#define F_EXIT 19
#define F_RUNNING 20
#define F_SIGNAL 21
#define F_CONTAINER 22
#define F_OPEN 32
#define F_CLOSE 33
#define F_IO 34
#define F_RENAME 35
#define F_UNLINK 36
#define F_RMDIR 37
#define F_MKDIR 38
#define F_SYMLINK 39
#define F_LINK 40
#define F_CHMOD 41
#define F_CHOWN 42
#define F_TRUNCATE 43
#define F_MMAP 44
#define F_MKNOD 45
#define F_ALLOCATE 46
#define F_UTIME 47
#define F_XATTR 48
#define F_CHATTR 49
#define F_CONNECT 64
#define F_ACCEPT 65
#define F_LISTEN 66
#define F_SEND 67
#define F_FLOW 68
#define F_DNS 69
#define F_SOCKET 70
#define F_SYN 71
#define F_BIND 72
#define F_CRED 80
#define F_PRIVILEGE 81

#define T_COMM 1
#define T_ARGV 2
#define T_ENV 3
#define T_CWD 4
#define T_EXE 5
#define T_NAME 6
#define T_PATH 7
#define T_PATH_TO 8
#define T_TARGET 9
#define T_FILE 10
#define T_IO 11
#define T_SOCKET 12
#define T_FLOW 13
#define T_PAYLOAD 14
#define T_CRED 15
#define T_PARENT 16
#define T_COUNTERS 17
#define T_NUMBERS 18
#define T_ORIGIN 19
#define T_ORIGIN_PATH 20
#define T_CONTAINER 21

#define TLV_TRUNCATED 1
#define TLV_FAULT 2
#define TLV_DELETED 4
#define TLV_DETACHED 8

#define FRAME_FINAL 1
#define FRAME_CLOSED 2
#define FRAME_REQUESTED 4
#define FRAME_FLUSH 8
#define FRAME_CREATED 16
// Above them, the number of the container in which the act was done; see container.c.
#define FRAME_CONTAINER_SHIFT 5

#define HEADER 64
#define TLV 12

struct header {
    u32 magic;
    u16 version, type;
    u32 length;
    u16 flags, cpu;
    u64 seq, ktime;
    u32 tgid, tid;
    u64 start, cgroup;
    s64 ret;
};

struct owner {
    u32 tgid, tid;
    u64 start, cgroup;
    u64 container;
};

// Of one CPU. `seq` counts attempts, `emitted` what is in the ring; the rest are the losses, by reason and by frame type.
struct counters {
    u64 seq, emitted, bytes;
    u64 reserve, full, stash_full, table_full, misses;
    u64 dropped[TYPES_MAX];
};

// The tracer's process, and the agent's control group, 0 where there is none.
struct settings {
    u64 tracer, agent;
};

#define SMALL 16384
#define LARGE (SMALL + 65536 + 4096 + 16384 + 1024)
// Where the loops are: of a walk from a name to the root, of masking values, and of drawing random numbers.
struct walk {
    u64 mnt, root, dentry, begin, end, limit, flags;
};
struct masking {
    u64 at, length, carry;
};
struct draw {
    u64 to, left, block, lineage;
};
struct scratch {
    u8 octets[LARGE];
    struct walk walk;
    struct masking masking;
    struct draw draw;
};

BPF_RINGBUF_OUTPUT(events, RING_PAGES);
BPF_ARRAY(counters, struct counters, CPUS_MAX);
BPF_ARRAY(scratches, struct scratch, CPUS_MAX);
// What is not known when the program is compiled; written before anything is attached.
BPF_ARRAY(settings, struct settings, 1);
// Where a task is: its namespace of mounts, by a number that the kernel does not use again, and its root: a folder, and the
// mount and namespace through which it is seen.
struct place {
    u64 sequence;
    u64 inode;
    u32 device, generation;
    u64 root_sequence;
    u64 mount;
};

// From when the agent began to mount, unmount or move file systems, in whatever namespace: a path is then not enough to say
// which file is meant. See path.c and container.c.
struct moved {
    u64 since; // ns since boot, 0 before
    u64 claimed;
    struct place from; // where the agent's processes were until then
};
BPF_ARRAY(mounts_moved, struct moved, 1);

// The containers that there were, by their places; see container.c.
struct container {
    u64 number, told;
};
#define CONTAINERS_MAX 2046
#define CONTAINER_UNKNOWN 2047
BPF_HASH(containers, struct place, struct container, CONTAINERS_MAX);
BPF_ARRAY(containers_made, u64, 1);
// The namespace of users in which the tracer is; set by op_guard.
BPF_ARRAY(guarded_users, u64, 1);

// bcc has no call for the ring's fill, and writes `bpf_ringbuf_output(ring, …)` where the source says
// `events.ringbuf_output(…)`: this macro takes that call, and with it the ring, for both questions.
static u64 (*ring_query)(void *ring, u64 what) = (void *)134;
static long (*ring_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
#define NO_WAKEUP 1

static __always_inline long guarded_output(void *ring, void *data, u64 size, u32 volume) {
    // An eighth of the ring is kept for what is not volume: exec, exit, credentials, network, heartbeats.
    if (volume && ring_query(ring, 0) > (u64)RING_PAGES * 4096 / 8 * 7)
        return -105;
    return ring_output(ring, data, size, NO_WAKEUP);
}
#define bpf_ringbuf_output guarded_output

// Runs a function of this program, `loop__…`, until it returns 1. The verifier walks through it once, where it would walk through
// a loop's body once a round, for every program that has one. The function is compiled apart, so its address is a number that
// compiled.py knows and replaces; it takes nothing but the round's number, and finds all else in the scratch.
static long (*run_loop)(u32 rounds, void *body, void *context, u64 flags) = (void *)181;
#define BODY_NAMES "0x100706f6f6c"
#define BODY_VALUES "0x200706f6f6c"
#define BODY_BLOCKS "0x300706f6f6c"
#define ROUNDS(rounds, body)                                                                                           \
    ({                                                                                                                 \
        void *address;                                                                                                 \
        asm volatile("%0 = " body " ll" : "=r"(address));                                                              \
        run_loop(rounds, address, 0, 0);                                                                               \
    })

static __always_inline u64 word(u64 at) {
    u64 value = 0;
    bpf_probe_read_kernel(&value, 8, (void *)at);
    return value;
}

static __always_inline u32 half(u64 at) {
    u32 value = 0;
    bpf_probe_read_kernel(&value, 4, (void *)at);
    return value;
}

static __always_inline u32 quarter(u64 at) {
    u16 value = 0;
    bpf_probe_read_kernel(&value, 2, (void *)at);
    return value;
}

static __always_inline u64 start_of(u64 task) {
    return word(word(task + OFF_TASK_LEADER) + OFF_TASK_START);
}

static __always_inline u32 tracer(void) {
    u32 zero = 0;
    struct settings *set = settings.lookup(&zero);
    return set ? set->tracer : 0;
}

static __always_inline u64 agent(void) {
    u32 zero = 0;
    struct settings *set = settings.lookup(&zero);
    return set ? set->agent : 0;
}

static __always_inline int is_tracer(void) {
    return (u32)(bpf_get_current_pid_tgid() >> 32) == tracer();
}

// Adds one, and returns what was there before. The addition is atomic, as a softirq may come between; clang 14 can
// neither be told that in C (bcc's target knows no fetching add) nor in assembly, so the instruction is spelled out:
// r9 = atomic_fetch_add((u64 *)(r8 + 0), r9). bcc's front end is told of an x86, so that only names which both
// machines have, r8 to r15, can be said to be overwritten.
static __always_inline u64 fetch_increment(u64 *number) {
    u64 before;
    asm volatile("r8 = %1\n"
                 "r9 = 1\n"
                 ".byte 0xdb, 0x98, 0, 0, 1, 0, 0, 0\n"
                 "%0 = r9"
                 : "=r"(before)
                 : "r"(number)
                 : "r8", "r9", "memory");
    return before;
}

#define SYS_ADMIN 21

// Whether these are credentials that no agent has: init's, the tracer's and those of what init starts beside them.
static __always_inline int is_guarded(u64 cred) {
    u32 zero = 0;
    u64 *users = guarded_users.lookup(&zero);
    return users && *users && word(cred + OFF_CRED_USERS) == *users && word(cred + OFF_CRED_PERMITTED) >> SYS_ADMIN & 1;
}

static __always_inline void place_of(struct place *place, u64 task) {
    u64 root = word(task + OFF_TASK_FS) + OFF_FS_ROOT, mount = word(root + OFF_PATH_MNT) - OFF_MOUNT_MNT;
    u64 inode = word(word(root + OFF_PATH_DENTRY) + OFF_DENTRY_INODE);
    place->sequence = word(word(word(task + OFF_TASK_NSPROXY) + OFF_NSPROXY_MOUNTS) + OFF_MNT_NS_SEQUENCE);
    place->inode = word(inode + OFF_INODE_INO);
    place->device = half(word(inode + OFF_INODE_SB) + OFF_SB_DEV);
    place->generation = half(inode + OFF_INODE_GENERATION);
    place->root_sequence = word(word(mount + OFF_MOUNT_NS) + OFF_MNT_NS_SEQUENCE);
    place->mount = half(mount + OFF_MOUNT_ID);
}

static __always_inline int is_same(struct place *a, struct place *b) {
    return a->sequence == b->sequence && a->inode == b->inode && a->device == b->device && a->generation == b->generation &&
        a->root_sequence == b->root_sequence && a->mount == b->mount;
}

// The entry of the container in which a task is; 0 if it is in none, or `unknown` becomes 1.
static __always_inline struct container *container_of(u64 task, u32 *unknown) {
    u32 zero = 0;
    struct moved *moved = mounts_moved.lookup(&zero);
    struct place here = {};
    if (!moved || !moved->since)
        return 0;
    place_of(&here, task);
    if (is_same(&here, &moved->from))
        return 0;
    struct container *known = containers.lookup(&here);
    if (known)
        return known;
    if (is_guarded(word(task + OFF_TASK_CRED)))
        return 0;
    u64 *made = containers_made.lookup(&zero);
    // A task that ends has left its root and its namespaces already.
    if (here.sequence && here.inode && made && *made < CONTAINERS_MAX) {
        struct container fresh = {.number = fetch_increment(made) + 1};
        if (fresh.number <= CONTAINERS_MAX)
            containers.insert(&here, &fresh);
        known = containers.lookup(&here);
    }
    *unknown = !known;
    return known;
}

static __always_inline u64 container_number(u64 task) {
    u32 unknown = 0;
    struct container *container = container_of(task, &unknown);
    return container ? container->number : unknown ? CONTAINER_UNKNOWN : 0;
}

static __always_inline void owner_anywhere(struct owner *owner) {
    u64 id = bpf_get_current_pid_tgid();
    owner->tgid = id >> 32;
    owner->tid = id;
    owner->start = start_of(bpf_get_current_task());
    owner->cgroup = bpf_get_current_cgroup_id();
    owner->container = 0;
}

static __always_inline void owner_now(struct owner *owner) {
    owner_anywhere(owner);
    owner->container = container_number(bpf_get_current_task());
}

// Where something is folded: in which container all of it was done.
static __always_inline void folded_now(struct owner *owner, u64 before) {
    u64 container = container_number(bpf_get_current_task());
    if (!before)
        owner->container = container;
    else if (owner->container != container)
        owner->container = CONTAINER_UNKNOWN; // in several
}

static __always_inline u8 *scratch(void) {
    int cpu = bpf_get_smp_processor_id();
    struct scratch *s = scratches.lookup(&cpu);
    return s ? s->octets : 0;
}

static __always_inline struct counters *counters_here(void) {
    int cpu = bpf_get_smp_processor_id();
    return counters.lookup(&cpu);
}

static __always_inline void header_of(u8 *at, u32 type, s64 ret, struct owner *owner) {
    struct header *h = (struct header *)at;
    h->magic = MAGIC_FRAME;
    h->version = WIRE_VERSION;
    h->type = type;
    h->length = HEADER;
    h->flags = owner->container << FRAME_CONTAINER_SHIFT;
    h->tgid = owner->tgid;
    h->tid = owner->tid;
    h->start = owner->start;
    h->cgroup = owner->cgroup;
    h->ret = ret;
}

static __always_inline void header_now(u8 *at, u32 type, s64 ret) {
    struct owner owner = {};
    owner_now(&owner);
    header_of(at, type, ret, &owner);
}

static __always_inline void tlv(u8 *at, u32 type, u32 flags, u32 captured, u32 original) {
    *(u16 *)at = type;
    *(u16 *)(at + 2) = flags;
    *(u32 *)(at + 4) = captured;
    *(u32 *)(at + 8) = original;
}

// Takes the next sequence number.
static __always_inline u64 next_seq(struct counters *c) {
    return fetch_increment(&c->seq) + 1;
}

static __always_inline void lost(struct counters *c, u32 type, u64 *reason) {
    __sync_fetch_and_add(reason, 1);
    if (type < TYPES_MAX)
        __sync_fetch_and_add(&c->dropped[type], 1);
}

// Counts a frame that could not even be built.
static __always_inline void not_built(u32 type, u32 table) {
    struct counters *c = counters_here();
    if (!c)
        return;
    next_seq(c);
    if (table)
        lost(c, type, &c->table_full);
    else
        lost(c, type, &c->stash_full);
}

// Sends the frame at `at`. `length` must be bounded by the caller in a way that the verifier sees.
static __always_inline void emit(u8 *at, u64 length, u32 type, u32 volume) {
    struct counters *c = counters_here();
    if (!c)
        return;
    struct header *h = (struct header *)at;
    h->length = length;
    h->cpu = bpf_get_smp_processor_id();
    h->seq = next_seq(c);
    h->ktime = bpf_ktime_get_boot_ns();
    long result = events.ringbuf_output(at, length, volume);
    if (result == -105) {
        lost(c, type, &c->reserve);
    } else if (result < 0) {
        lost(c, type, &c->full);
    } else {
        __sync_fetch_and_add(&c->emitted, 1);
        __sync_fetch_and_add(&c->bytes, length);
    }
}

// Keeps a cursor into the small part of a scratch within bounds that the verifier sees, without a branch.
static __always_inline u64 small(u64 at) {
    asm volatile("%0 &= 0x3fff" : "+r"(at));
    return at;
}
