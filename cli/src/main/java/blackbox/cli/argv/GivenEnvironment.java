package blackbox.cli.argv;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The environment of this process as the kernel has it: the JVM's own copy is decoded by the locale. Safe for use by
/// many threads.
public final class GivenEnvironment {
    private static volatile byte @Nullable [] kept;

    private GivenEnvironment() {}

    /// Keeps it for [#octets], because a process that is not dumpable can read it no more (proc(5)).
    ///
    /// @throws IOException when the kernel does not provide it
    public static void keep() throws IOException {
        kept = OwnMemory.ENVIRONMENT.read();
    }

    /// Every variable as `NAME=VALUE`, ended by a NUL.
    ///
    /// @throws IOException when it was not kept and the kernel does not provide it
    public static byte[] octets() throws IOException {
        byte[] own = kept;
        return own == null ? OwnMemory.ENVIRONMENT.read() : own.clone();
    }
}
