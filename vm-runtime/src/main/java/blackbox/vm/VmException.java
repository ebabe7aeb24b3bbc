package blackbox.vm;

import org.jspecify.annotations.Nullable;

/// An operating failure of the VM runtime. The message is one sentence for the person at the terminal: what
/// failed, where, and how to fix it; the code is for programs.
public final class VmException extends Exception {
    private static final long serialVersionUID = 1L;

    /// What kind of failure it was. Codes are stable: they may be stored and compared.
    public enum Code {
        /// QEMU is not installed or could not be executed.
        QEMU_MISSING,
        /// The hypervisor could not be confined, see [blackbox.vm.confine.Confinement].
        NOT_CONFINED,
        /// Another tool that is needed is not installed.
        TOOL_MISSING,
        /// A tool ended with an error.
        TOOL_FAILED,
        /// No image of that name has been built.
        IMAGE_UNKNOWN,
        /// The files of an image are not the ones that were built.
        IMAGE_CORRUPT,
        /// An image definition or lock could not be understood.
        IMAGE_DEFINITION,
        /// The package mirror could not be used, or no longer has a locked package.
        MIRROR,
        /// An npm package is not an acceptable archive, or cannot be used without its install scripts.
        PACKAGE_REFUSED,
        /// The file to import is not an image archive of a known version.
        ARCHIVE_REFUSED,
        /// An image archive was truncated or altered after it was written.
        ARCHIVE_ALTERED,
        /// The workspace is not a folder or could not be read.
        WORKSPACE_UNREADABLE,
        /// The workspace is larger than a VM can receive or return.
        WORKSPACE_TOO_LARGE,
        /// The workspace that the guest returned is not an acceptable archive.
        WORKSPACE_REFUSED,
        /// There is not enough room on the host's disk.
        DISK_FULL,
        /// The VM did not come up.
        BOOT_FAILED,
        /// QEMU ended, or refused a command.
        QEMU_FAILED,
        /// The guest broke the protocol, or reported a failure of its own.
        GUEST_FAILED,
        /// A step took longer than it may.
        TIMEOUT,
        /// Another process holds what is needed.
        BUSY,
        /// Reading or writing a file failed.
        IO
    }

    private final Code code;

    /// A failure without a deeper cause.
    public VmException(Code code, String message) {
        this(code, message, null);
    }

    /// A failure that adds context to `cause` without repeating its message.
    public VmException(Code code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /// One sentence; never null.
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }

    /// The kind of failure.
    public Code code() {
        return code;
    }
}
