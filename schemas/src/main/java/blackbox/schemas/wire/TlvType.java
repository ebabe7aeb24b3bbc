package blackbox.schemas.wire;

/// What a TLV holds. Numbers in it are little-endian.
public enum TlvType {
    /// 16 octets, NUL-padded task name.
    COMM(1),
    /// Arguments, each followed by NUL.
    ARGV(2),
    /// Environment block, each `NAME=value` followed by NUL.
    ENV(3),
    /// Working directory, as [#PATH].
    CWD(4),
    /// Executed file, as [#PATH].
    EXE(5),
    /// A name as the caller gave it.
    NAME(6),
    /// Names from the leaf to the root, each followed by NUL.
    PATH(7),
    /// The second path, as [#PATH].
    PATH_TO(8),
    /// A symbolic link's target, as given.
    TARGET(9),
    /// u64 device, u64 inode, u32 mode, u32 open flags.
    FILE(10),
    /// u64 each: reads, bytes read, writes, bytes written, first offset, last offset, octets requested.
    IO(11),
    /// u16 family, protocol, local port, remote port; 16 octets local, 16 remote; u32 state, u32 zero.
    SOCKET(12),
    /// u64 each: bytes out, bytes in, packets out, packets in, first ns, last ns.
    FLOW(13),
    /// Octets of a datagram.
    PAYLOAD(14),
    /// u32 uid, gid, suid, sgid, euid, egid, fsuid, fsgid; u64 permitted, effective, bounding capabilities.
    CRED(15),
    /// u64 pid, u64 start of the parent.
    PARENT(16),
    /// u64 each: sequence, emitted, bytes, and the losses by reason and by frame type.
    COUNTERS(17),
    /// Three u64 whose meaning the frame type gives.
    NUMBERS(18),
    /// u64 device, inode, magic number of the file system; u32 namespace and number of the mount: of the path before
    /// it.
    ORIGIN(19),
    /// Its path within its file system, as [#PATH]; the root's name is `/`.
    ORIGIN_PATH(20),
    /// u64 sequence number of the namespace of mounts; u32 numbers of the namespaces of mounts, users, processes,
    /// network.
    CONTAINER(21);

    private final int code;

    TlvType(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }
}
