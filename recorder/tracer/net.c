// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Part 8 of 10: sockets. TCP's last state change runs in whatever context ended the connection, often a softirq: its
// frame is built on the stack, and its process is the one remembered when the socket was made.

#define AF_UNIX_N 1
#define AF_INET_N 2
#define AF_INET6_N 10
#define AF_NETLINK_N 16
#define PROTO_TCP 6
#define PROTO_UDP 17
#define TCP_SYN_SENT_N 2
#define TCP_CLOSE_N 7
#define TCP_LISTEN_N 10
#define SOCK_RAW_N 3
#define DNS_PORT 53
#define PAYLOAD_MAX 512
#define SOCKETS_MAX 16384
#define FLOWS_MAX 8192

struct endpoints {
    u16 family, protocol;
    u16 local_port, remote_port;
    u8 local[16], remote[16];
    u32 state, pad;
};

struct flow {
    u64 bytes_out, bytes_in, packets_out, packets_in;
    u64 first_ns, changed_ns;
};

// The socket's cookie, which no later socket has: its address is soon another one's.
struct flow_key {
    u64 socket;
    u32 tgid;
    u16 family, remote_port;
    u8 remote[16];
};

// The local end is kept from the first datagram on: the socket may be gone when the flow is told.
struct udp_flow {
    struct owner owner;
    struct flow flow;
    struct endpoints ends;
};

BPF_HASH(tcp_owners, u64, struct owner, SOCKETS_MAX);
BPF_HASH(udp_flows, struct flow_key, struct udp_flow, FLOWS_MAX);

static __always_inline u16 swapped(u16 port) {
    return port << 8 | port >> 8;
}

static __always_inline void endpoints_of(struct endpoints *e, u64 sk) {
    e->family = quarter(sk + OFF_SK_FAMILY);
    e->protocol = quarter(sk + OFF_SK_PROTOCOL);
    // Not skc_num, which is cleared before the last state change.
    e->local_port = swapped(quarter(sk + OFF_SK_SPORT));
    e->remote_port = swapped(quarter(sk + OFF_SK_DPORT));
    if (e->family == AF_INET6_N) {
        bpf_probe_read_kernel(e->local, 16, (void *)(sk + OFF_SK_SADDR6));
        bpf_probe_read_kernel(e->remote, 16, (void *)(sk + OFF_SK_DADDR6));
    } else {
        bpf_probe_read_kernel(e->local, 4, (void *)(sk + OFF_SK_SADDR));
        bpf_probe_read_kernel(e->remote, 4, (void *)(sk + OFF_SK_DADDR));
    }
}

// Takes the remote address from a struct sockaddr of the kernel's.
static __always_inline void remote_of(struct endpoints *e, u64 address) {
    u32 family = quarter(address);
    __builtin_memset(e->remote, 0, 16);
    e->remote_port = swapped(quarter(address + 2));
    if (family == AF_INET6_N) {
        bpf_probe_read_kernel(e->remote, 16, (void *)(address + 8));
    } else {
        bpf_probe_read_kernel(e->remote, 4, (void *)(address + 4));
        // An IPv4 address on an IPv6 socket: both ends are then sent as IPv4.
        e->family = AF_INET_N;
    }
}

#define SOCKET_FRAME (HEADER + TLV + sizeof(struct endpoints))
#define FLOW_FRAME (SOCKET_FRAME + TLV + sizeof(struct flow))

static __always_inline void put_socket(u8 *frame, struct endpoints *e) {
    tlv(frame + HEADER, T_SOCKET, 0, sizeof *e, sizeof *e);
    __builtin_memcpy(frame + HEADER + TLV, e, sizeof *e);
}

static __always_inline void emit_socket(u32 type, struct endpoints *e, s64 ret) {
    u8 *frame = scratch();
    if (!frame)
        return;
    header_now(frame, type, ret);
    put_socket(frame, e);
    emit(frame, SOCKET_FRAME, type, 0);
}

// Of a Unix socket, whose address is a struct sockaddr_un of `octets`.
static __always_inline int emit_unix(u8 *frame, u32 type, s64 ret, u64 address, u32 octets) {
    u64 length = octets - 2;
    struct endpoints unix_socket = {.family = AF_UNIX_N};
    header_now(frame, type, ret);
    put_socket(frame, &unix_socket);
    if (length > 108)
        length = 0;
    // Names in the abstract space begin with NUL and may hold more of them.
    tlv(frame + SOCKET_FRAME, T_NAME, 0, length, length);
    bpf_probe_read_kernel(frame + SOCKET_FRAME + TLV, 108, (void *)(address + 2));
    emit_small(frame, SOCKET_FRAME + TLV + length, type, 0);
    return 0;
}

// int __sys_connect_file(struct file *, struct sockaddr_storage *, int addrlen, int file_flags)
int kretfunc____sys_connect_file(u64 *ctx) {
    u32 family = quarter(ctx[1]);
    s64 ret = (s32)ctx[4];
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    if (family == AF_UNIX_N)
        return emit_unix(frame, F_CONNECT, ret, ctx[1], (u32)ctx[2]);
    if (family != AF_INET_N && family != AF_INET6_N)
        return 0;
    struct endpoints e = {};
    endpoints_of(&e, word(word(ctx[0] + OFF_FILE_PRIVATE) + OFF_SOCKET_SK));
    remote_of(&e, ctx[1]);
    emit_socket(F_CONNECT, &e, ret);
    return 0;
}

// int tcp_connect(struct sock *): both ends and the first number are known, and no segment has been sent. A call that
// connects returns later, maybe only when the other side has answered, so its own event would be late for whoever has to
// know before. The program is the one that runs now, whatever is known of the process before.
int kfunc__tcp_connect(u64 *ctx) {
    struct endpoints e = {};
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    endpoints_of(&e, ctx[0]);
    header_now(frame, F_SYN, 0);
    put_socket(frame, &e);
    u64 at = put_numbers(frame, SOCKET_FRAME, half(ctx[0] + OFF_TCP_WRITE_SEQ), 0, 0);
    u64 mm = word(bpf_get_current_task() + OFF_TASK_MM);
    if (mm)
        at = put_path_of(frame, at, T_EXE, word(mm + OFF_MM_EXE_FILE) + OFF_FILE_PATH);
    emit_small(frame, at, F_SYN, 0);
    return 0;
}

// struct sock *inet_csk_accept(struct sock *, int flags, int *err, bool kern)
int kretfunc__inet_csk_accept(u64 *ctx) {
    u64 sk = ctx[4];
    struct endpoints e = {};
    struct owner owner = {};
    if (!sk || is_tracer())
        return 0;
    owner_now(&owner);
    tcp_owners.update(&sk, &owner);
    endpoints_of(&e, sk);
    emit_socket(F_ACCEPT, &e, 0);
    return 0;
}

#define SOCKADDR_IN_BYTES 16
#define SOCKADDR_IN6_BYTES 28

// The kernel chooses what is asked for as 0. Where it refuses, nothing is chosen, and what was asked for is only known of an
// address that has the socket's form: octets behind its length are the kernel's own.
static __always_inline int bound(u64 socket, u64 address, u32 length, s64 ret) {
    struct endpoints e = {};
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    endpoints_of(&e, word(socket + OFF_SOCKET_SK));
    if (ret) {
        u32 family = quarter(address);
        e.local_port = 0;
        __builtin_memset(e.local, 0, 16);
        if (e.family == AF_INET6_N && family == AF_INET6_N && length >= SOCKADDR_IN6_BYTES) {
            e.local_port = swapped(quarter(address + 2));
            bpf_probe_read_kernel(e.local, 16, (void *)(address + 8));
        } else if (e.family == AF_INET_N && family != AF_INET6_N && length >= SOCKADDR_IN_BYTES) {
            e.local_port = swapped(quarter(address + 2));
            bpf_probe_read_kernel(e.local, 4, (void *)(address + 4));
        }
    }
    if (e.protocol != PROTO_TCP && e.protocol != PROTO_UDP)
        e.local_port = 0; // a raw socket has its protocol there
    header_now(frame, F_BIND, ret);
    put_socket(frame, &e);
    emit(frame, SOCKET_FRAME, F_BIND, ret < 0);
    return 0;
}

// int inet_bind(struct socket *, struct sockaddr *, int)
int kretfunc__inet_bind(u64 *ctx) {
    return bound(ctx[0], PLAIN(1), (u32)ctx[2], (s32)ctx[3]);
}

// int inet6_bind(struct socket *, struct sockaddr *, int)
int kretfunc__inet6_bind(u64 *ctx) {
    return bound(ctx[0], PLAIN(1), (u32)ctx[2], (s32)ctx[3]);
}

// int inet_listen(struct socket *, int backlog)
int kretfunc__inet_listen(u64 *ctx) {
    struct endpoints e = {};
    if (is_tracer())
        return 0;
    endpoints_of(&e, word(ctx[0] + OFF_SOCKET_SK));
    emit_socket(F_LISTEN, &e, (s32)ctx[2]);
    return 0;
}

// int unix_listen(struct socket *, int backlog)
int kretfunc__unix_listen(u64 *ctx) {
    u64 address = word(word(ctx[0] + OFF_SOCKET_SK) + OFF_UNIX_ADDRESS);
    u8 *frame = scratch();
    if (!frame || is_tracer())
        return 0;
    return emit_unix(frame, F_LISTEN, (s32)ctx[2], address + OFF_UNIX_ADDRESS_NAME, half(address + OFF_UNIX_ADDRESS_LEN));
}

// int __inet_stream_connect(struct socket *, struct sockaddr *, int, int flags, int is_sendmsg): by a send that connects
int kretfunc____inet_stream_connect(u64 *ctx) {
    u32 by_send = ctx[4];
    struct endpoints e = {};
    if (!by_send || !ctx[1] || is_tracer())
        return 0;
    endpoints_of(&e, word(ctx[0] + OFF_SOCKET_SK));
    remote_of(&e, ctx[1]);
    emit_socket(F_CONNECT, &e, (s32)ctx[5]);
    return 0;
}

// Payload octets as they were on the wire: a received FIN counts as one octet in bytes_received.
static __always_inline void tcp_flow_of(struct flow *flow, u64 sk) {
    flow->bytes_out = word(sk + OFF_TCP_BYTES_SENT) - word(sk + OFF_TCP_BYTES_RETRANS);
    flow->bytes_in = word(sk + OFF_TCP_BYTES_RECEIVED);
    if (word(sk + OFF_SK_FLAGS) >> SOCK_DONE_BIT & 1 && flow->bytes_in)
        flow->bytes_in--;
}

static __always_inline void emit_tcp(u64 sk, struct owner *owner, u32 state, u32 flags) {
    u64 frame[(FLOW_FRAME + 7) / 8] = {};
    u8 *at = (u8 *)frame;
    struct endpoints e = {};
    struct flow flow = {};
    endpoints_of(&e, sk);
    e.state = state;
    tcp_flow_of(&flow, sk);
    header_of(at, F_FLOW, 0, owner);
    ((struct header *)at)->flags |= flags;
    put_socket(at, &e);
    tlv(at + SOCKET_FRAME, T_FLOW, 0, sizeof flow, sizeof flow);
    __builtin_memcpy(at + SOCKET_FRAME + TLV, &flow, sizeof flow);
    emit(at, FLOW_FRAME, F_FLOW, 0);
}

// The kernel leaves a program out on a CPU on which it is running already, and the states of other sockets change in interrupts of
// it. So there are two programs, of which the second runs right after the first and does what that one was left out of. What the
// first leaves for it is in this CPU's place for the socket's address: both run on one CPU, and the changes of one socket's state come
// one after the other. Two sockets of one place can meet there only in an interrupt between the two programs; one is then told twice.
#define PLACES 256
struct telling {
    u64 socket, change;
};
BPF_ARRAY(tellings, struct telling, CPUS_MAX * PLACES);
// How often the second one did it: these runs of the first are not missing.
BPF_ARRAY(made_up_for, u64, 1);

static __always_inline void state_changed(u64 sk, u32 before, u32 after) {
    struct owner owner = {};
    if (quarter(sk + OFF_SK_PROTOCOL) != PROTO_TCP)
        return;
    if (after == TCP_SYN_SENT_N) {
        owner_now(&owner);
        tcp_owners.update(&sk, &owner);
        return;
    }
    if (after != TCP_CLOSE_N || before == TCP_LISTEN_N)
        return;
    struct owner *known = tcp_owners.lookup(&sk);
    if (known)
        owner = *known;
    tcp_owners.delete(&sk);
    emit_tcp(sk, &owner, before, FRAME_CLOSED);
}

static __always_inline struct telling *telling_of(u64 sk) {
    u32 place = bpf_get_smp_processor_id() * PLACES + ((sk >> 6 ^ sk >> 14) & (PLACES - 1));
    return tellings.lookup(&place);
}

// args: const struct sock *sk, int oldstate, int newstate. Softirq or process context.
RAW_TRACEPOINT_PROBE(inet_sock_set_state) {
    u64 sk = ctx->args[0], change = ctx->args[1] << 32 | (u32)ctx->args[2];
    struct telling *note = telling_of(sk);
    if (note) {
        note->socket = sk;
        note->change = change;
    }
    state_changed(sk, ctx->args[1], ctx->args[2]);
    return 0;
}

int raw_tracepoint__inet_sock_set_state__again(struct bpf_raw_tracepoint_args *ctx) {
    u64 sk = ctx->args[0], change = ctx->args[1] << 32 | (u32)ctx->args[2];
    u32 zero = 0;
    struct telling *note = telling_of(sk);
    if (note && note->socket == sk && note->change == change) {
        note->socket = 0;
        return 0;
    }
    state_changed(sk, ctx->args[1], ctx->args[2]);
    u64 *count = made_up_for.lookup(&zero);
    if (count)
        __sync_fetch_and_add(count, 1);
    return 0;
}

static __always_inline void emit_udp(struct udp_flow *u, u32 type, u32 flags, u32 volume) {
    u8 *frame = scratch();
    if (!frame)
        return;
    header_of(frame, type, 0, &u->owner);
    ((struct header *)frame)->flags |= flags;
    put_socket(frame, &u->ends);
    tlv(frame + SOCKET_FRAME, T_FLOW, 0, sizeof u->flow, sizeof u->flow);
    __builtin_memcpy(frame + SOCKET_FRAME + TLV, &u->flow, sizeof u->flow);
    emit(frame, FLOW_FRAME, type, volume);
}

// `sk` must be a probe's own argument, of which the verifier knows that it is a socket.
static __always_inline u64 cookie_of(u64 sk) {
    return bpf_get_socket_cookie((void *)sk);
}

// A flow keeps its place when it has been told, with nothing counted, so that what is a first datagram does not depend
// on when the flow was told.
static __always_inline void count_udp(struct endpoints *e, u64 socket, u64 out, u64 in, u32 sent) {
    struct flow_key key = {.socket = socket, .tgid = bpf_get_current_pid_tgid() >> 32, .family = e->family};
    key.remote_port = e->remote_port;
    __builtin_memcpy(key.remote, e->remote, 16);
    u64 now = bpf_ktime_get_boot_ns();
    struct udp_flow *known = udp_flows.lookup(&key);
    if (known) {
        folded_now(&known->owner, known->flow.packets_out + known->flow.packets_in);
        __sync_fetch_and_add(&known->flow.bytes_out, out);
        __sync_fetch_and_add(&known->flow.bytes_in, in);
        __sync_fetch_and_add(sent ? &known->flow.packets_out : &known->flow.packets_in, 1);
        known->flow.changed_ns = now;
        if (!known->flow.first_ns)
            known->flow.first_ns = now;
        return;
    }
    // Behind the frame: the stack has no room for it.
    u8 *octets = scratch();
    if (!octets)
        return;
    struct udp_flow *fresh = (struct udp_flow *)(octets + SMALL);
    fresh->flow.bytes_out = out;
    fresh->flow.bytes_in = in;
    fresh->flow.packets_out = sent;
    fresh->flow.packets_in = !sent;
    fresh->flow.first_ns = fresh->flow.changed_ns = now;
    fresh->ends = *e;
    owner_now(&fresh->owner);
    u32 full = udp_flows.update(&key, fresh) != 0;
    // The first datagram is told at once; with the table full, each one is told as a flow of its own.
    if (sent || full)
        emit_udp(fresh, full ? F_FLOW : F_SEND, 0, full);
}

// Sends the first octets of a datagram to or from port 53. `user` is where they are in the caller's memory.
static __always_inline void emit_dns(struct endpoints *e, u64 memory, u32 length, u32 from_user) {
    u8 *frame = scratch();
    if (!frame)
        return;
    header_now(frame, F_DNS, 0);
    put_socket(frame, e);
    u64 wanted = length > PAYLOAD_MAX ? PAYLOAD_MAX : length;
    asm volatile("" : "+r"(wanted));
    if (wanted > PAYLOAD_MAX)
        return;
    long failed = from_user ? bpf_probe_read_user(frame + SOCKET_FRAME + TLV, wanted, (void *)memory)
                            : bpf_probe_read_kernel(frame + SOCKET_FRAME + TLV, wanted, (void *)memory);
    u32 flags = failed ? TLV_FAULT : length > wanted ? TLV_TRUNCATED : 0;
    tlv(frame + SOCKET_FRAME, T_PAYLOAD, flags, wanted, length);
    emit_small(frame, SOCKET_FRAME + TLV + wanted, F_DNS, 0);
}

// Where a datagram goes: the call's address, or the one the socket is connected to.
static __always_inline void target_of(struct endpoints *e, u64 sk, u64 msg) {
    u64 name = word(msg + OFF_MSG_NAME);
    endpoints_of(e, sk);
    if (name)
        remote_of(e, name);
}

// The data is still where the caller put it when the call begins; when it returns, the iterator has moved on.
static __always_inline int dns_sent(u64 sk, u64 msg, u64 length) {
    struct endpoints e = {};
    target_of(&e, sk, msg);
    if (e.remote_port != DNS_PORT || is_tracer())
        return 0;
    u64 iter = msg + OFF_MSG_ITER, base = word(iter + OFF_ITER_IOV), size = length;
    u8 kind = quarter(iter + OFF_ITER_TYPE);
    if (kind == ITER_IOVEC_TYPE) {
        size = word(base + 8);
        base = word(base);
    } else if (kind != ITER_UBUF_TYPE) {
        base = 0;
    }
    emit_dns(&e, base + word(iter + OFF_ITER_OFFSET), size < length ? size : length, 1);
    return 0;
}

static __always_inline int udp_sent(u64 sk, u64 msg, s32 ret) {
    struct endpoints e = {};
    if (ret < 0 || is_tracer())
        return 0;
    target_of(&e, sk, msg);
    count_udp(&e, cookie_of(sk), ret, 0, 1);
    return 0;
}

// int udp_sendmsg(struct sock *, struct msghdr *, size_t)
int kfunc__udp_sendmsg(u64 *ctx) {
    return dns_sent(ctx[0], ctx[1], ctx[2]);
}

int kretfunc__udp_sendmsg(u64 *ctx) {
    return udp_sent(ctx[0], ctx[1], ctx[3]);
}

// Hands IPv4-mapped targets on to udp_sendmsg, where they are counted.
static __always_inline int mapped(u64 sk, u64 msg) {
    struct endpoints e = {};
    target_of(&e, sk, msg);
    u32 *words = (u32 *)e.remote;
    return e.family == AF_INET_N || (!words[0] && !words[1] && words[2] == 0xffff0000);
}

int kfunc__udpv6_sendmsg(u64 *ctx) {
    return mapped(ctx[0], ctx[1]) ? 0 : dns_sent(ctx[0], ctx[1], ctx[2]);
}

int kretfunc__udpv6_sendmsg(u64 *ctx) {
    return mapped(ctx[0], ctx[1]) ? 0 : udp_sent(ctx[0], ctx[1], ctx[3]);
}

// void skb_consume_udp(struct sock *, struct sk_buff *, int len): a datagram that was read, len below 0 when only peeked at
int kfunc__skb_consume_udp(u64 *ctx) {
    u64 sk = ctx[0], skb = ctx[1], head = word(ctx[1] + OFF_SKB_HEAD);
    struct endpoints e = {};
    if ((s32)ctx[2] < 0 || is_tracer())
        return 0;
    endpoints_of(&e, sk);
    u64 network = head + quarter(skb + OFF_SKB_NETWORK), transport = head + quarter(skb + OFF_SKB_TRANSPORT);
    e.remote_port = swapped(quarter(transport));
    __builtin_memset(e.remote, 0, 16);
    if (swapped(quarter(skb + OFF_SKB_PROTOCOL)) == 0x86dd) {
        bpf_probe_read_kernel(e.remote, 16, (void *)(network + 8));
    } else {
        e.family = AF_INET_N;
        bpf_probe_read_kernel(e.remote, 4, (void *)(network + 12));
    }
    u32 length = swapped(quarter(transport + 4)) - 8;
    count_udp(&e, cookie_of(sk), 0, length, 0);
    if (e.remote_port == DNS_PORT)
        emit_dns(&e, transport + 8, length, 0);
    return 0;
}

// A socket of a kind whose traffic is not seen above.
static __always_inline int made_socket(u64 *ctx, s64 ret) {
    u32 family = ctx[0], type = ctx[1] & 15, inet = family == AF_INET_N || family == AF_INET6_N;
    u8 *frame = scratch();
    if (!frame || is_tracer() || family == AF_UNIX_N || family == AF_NETLINK_N || (inet && type < SOCK_RAW_N && (u32)ctx[2] != 1))
        return 0;
    header_now(frame, F_SOCKET, ret < 0 ? ret : 0);
    u64 at = put_numbers(frame, HEADER, family, type, (u32)ctx[2]);
    emit_small(frame, at, F_SOCKET, 0);
    return 0;
}

// int __sys_socket(int family, int type, int protocol)
int kretfunc____sys_socket(u64 *ctx) {
    return made_socket(ctx, (s32)ctx[3]);
}

// struct file *__sys_socket_file(int family, int type, int protocol): through io_uring
int kretfunc____sys_socket_file(u64 *ctx) {
    // The verifier knows it as a pointer, and lets nobody compare one with a number.
    s64 ret = word((u64)(ctx + 3));
    return made_socket(ctx, ret >= -4095 ? ret : 0);
}
