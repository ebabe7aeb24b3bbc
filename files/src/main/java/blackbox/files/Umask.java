package blackbox.files;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// The process's file mode creation mask (umask(2)), which children inherit.
public final class Umask {

    private static final int OTHERS = 077;

    private Umask() {}

    /// From now on this process and those that it starts create files and folders that only their owner can open,
    /// unless they say otherwise for one.
    @SuppressWarnings("restricted") // umask(2) takes any number and cannot fail
    public static void ownerOnly() {
        Linker linker = Linker.nativeLinker();
        MethodHandle umask = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("umask"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            Object _ = umask.invokeWithArguments(OTHERS);
        } catch (Throwable e) {
            throw new IllegalStateException("umask(2) cannot be called", e);
        }
    }
}
