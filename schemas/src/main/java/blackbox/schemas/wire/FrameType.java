package blackbox.schemas.wire;

import org.jspecify.annotations.Nullable;

/// What a frame reports. Codes are those of `recorder/tracer/tracer.c`; they are never reused.
public enum FrameType {
    HEARTBEAT(1),
    EXEC(16),
    EXEC_FAILED(17),
    FORK(18),
    EXIT(19),
    RUNNING(20),
    SIGNAL(21),
    CONTAINER(22),
    OPEN(32),
    CLOSE(33),
    IO(34),
    RENAME(35),
    UNLINK(36),
    RMDIR(37),
    MKDIR(38),
    SYMLINK(39),
    LINK(40),
    CHMOD(41),
    CHOWN(42),
    TRUNCATE(43),
    MMAP(44),
    MKNOD(45),
    ALLOCATE(46),
    UTIME(47),
    XATTR(48),
    CHATTR(49),
    CONNECT(64),
    ACCEPT(65),
    LISTEN(66),
    SEND(67),
    FLOW(68),
    DNS(69),
    SOCKET(70),
    SYN(71),
    BIND(72),
    CRED(80),
    PRIVILEGE(81);

    private static final @Nullable FrameType[] BY_CODE = new FrameType[96];

    static {
        for (FrameType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final int code;

    FrameType(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /// The type with that code, or null.
    public static @Nullable FrameType ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
