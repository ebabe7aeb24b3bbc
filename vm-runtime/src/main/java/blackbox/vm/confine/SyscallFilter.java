package blackbox.vm.confine;

import blackbox.vm.VmException;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The system calls that a confined process may make, as a program for the kernel's seccomp filter. All others
/// do not exist for it (ENOSYS), and for another architecture's numbers it is killed. Made by libseccomp, on
/// which QEMU depends itself.
///
/// The list is what QEMU needs to run a machine from files, pipes and Unix sockets. Not in it, above all: new
/// processes and namespaces, mounts, io_uring, bpf, userfaultfd, ptrace, memory of other processes, keys,
/// modules, anonymous files, new limits.
final class SyscallFilter {
    private static final String FILES = """
            read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 open openat openat2 creat close \
            close_range lseek stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink \
            readlinkat getdents64 getcwd ftruncate fsync fdatasync sync_file_range fadvise64 dup \
            dup2 dup3 pipe pipe2 ioctl unlink unlinkat umask poll ppoll select pselect6 epoll_create epoll_create1 \
            epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 copy_file_range""";
    private static final String MEMORY = "mmap munmap mremap mprotect madvise brk msync mincore membarrier";
    private static final String THREADS = """
            set_robust_list get_robust_list rseq set_tid_address futex futex_waitv exit exit_group gettid getpid \
            getppid getpgrp sched_yield sched_getaffinity sched_getparam sched_getscheduler \
            sched_get_priority_max sched_get_priority_min getcpu prctl seccomp arch_prctl rt_sigaction rt_sigprocmask \
            rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack signalfd signalfd4 restart_syscall""";
    private static final String TIME = """
            clock_gettime clock_getres clock_nanosleep gettimeofday time nanosleep times timerfd_create \
            timerfd_settime timerfd_gettime""";
    private static final String SOCKETS = """
            connect bind listen accept accept4 getsockname getpeername setsockopt getsockopt sendto recvfrom sendmsg \
            recvmsg sendmmsg recvmmsg shutdown""";
    /// Without a capability, who it is cannot be changed: those calls are for the step that gives the
    /// capabilities up. The box's own first process waits.
    private static final String SELF = """
            execve getuid geteuid getgid getegid getgroups getresuid getresgid setresuid setresgid setgroups capget \
            capset wait4 uname sysinfo getrlimit getrusage getrandom""";

    private static final int ALLOW = 0x7fff0000;
    private static final int NO_SUCH_CALL = 0x00050000 | 38;
    private static final int EQUAL = 4;
    private static final int MASKED_EQUAL = 7;
    /// Of one `struct scmp_arg_cmp`: the argument's index and the comparison (32 bits each), two operands (64
    /// each).
    private static final int COMPARISON_BYTES = 24;

    private static final long CLONE_THREAD = 0x10000;
    /// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
    private static final long CLONE_NAMESPACES = 0x7e020000;

    /// F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ: all that is about
    /// descriptors. Locks and leases are not: by one on a file that it may only read, a QEMU would stop all
    /// others that read it. QEMU goes without locks where the kernel has none.
    private static final List<Long> DESCRIPTOR_COMMANDS = List.of(0L, 1L, 2L, 3L, 4L, 1030L, 1032L);

    /// What may be sent: 0, SIGINT, QUIT, ABRT, KILL, USR1, SEGV, USR2, ALRM, TERM, and the two of the C library. Not
    /// SIGCONT, nor by a timer: a process that others have stopped would run on.
    private static final List<Long> SIGNALS = List.of(0L, 2L, 3L, 6L, 9L, 10L, 11L, 12L, 14L, 15L, 32L, 33L);

    /// FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE: to give room back, not to take gigabytes of it in a moment.
    private static final long PUNCH_HOLE = 3;

    private static final int O_CLOEXEC = 02000000;
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    /// More than a filter has: 8 octets an instruction, two or three instructions a call.
    private static final int BYTES_MAX = 32 << 10;
    private static final String NAME = "libseccomp.so.2";

    /// Those that this process has made, guarded by the class: the first one takes longest, as it loads
    /// libseccomp.
    private static final Map<Purpose, byte[]> MADE = new HashMap<>();

    private final Seccomp library;
    private final Pointer filter;

    private SyscallFilter(Seccomp library, Pointer filter) {
        this.library = library;
        this.filter = filter;
    }

    /// What a process is confined for.
    ///
    /// @param internet whether sockets of the internet's protocols can be made; Unix sockets always can
    /// @param locks whether files can be locked
    record Purpose(boolean internet, boolean locks) {
        /// A QEMU with a machine.
        static final Purpose MACHINE = new Purpose(false, false);
    }

    /// The filter as instructions of classic BPF, as the kernel and bubblewrap take them.
    ///
    /// @throws VmException `NOT_CONFINED` when there is no libseccomp
    static synchronized byte[] of(Purpose purpose) throws VmException {
        byte[] made = MADE.get(purpose);
        if (made == null) {
            made = make(purpose);
            MADE.put(purpose, made);
        }
        return made.clone();
    }

    private static byte[] make(Purpose purpose) throws VmException {
        Seccomp library = library();
        Pointer made = library.seccomp_init(NO_SUCH_CALL);
        if (made == null) {
            throw Confinement.impossible("libseccomp makes no filter", null);
        }
        try {
            var filter = new SyscallFilter(library, made);
            for (String list : List.of(FILES, MEMORY, THREADS, TIME, SOCKETS, SELF)) {
                for (String call : list.split(" ")) {
                    filter.allow(call);
                }
            }
            filter.allow("clone", 0, MASKED_EQUAL, CLONE_THREAD | CLONE_NAMESPACES, CLONE_THREAD);
            if (purpose.locks()) {
                filter.allow("fcntl");
            } else {
                for (long each : DESCRIPTOR_COMMANDS) {
                    filter.allow("fcntl", 1, EQUAL, each, 0);
                }
            }
            for (long each : SIGNALS) {
                filter.allow("kill", 1, EQUAL, each, 0);
                filter.allow("tkill", 1, EQUAL, each, 0);
                filter.allow("tgkill", 2, EQUAL, each, 0);
            }
            filter.allow("fallocate", 1, EQUAL, PUNCH_HOLE, 0);
            // Limits can be asked for, not set: no new ones are given.
            filter.allow("prlimit64", 2, EQUAL, 0, 0);
            filter.allow("socket", 0, EQUAL, AF_UNIX, 0);
            filter.allow("socketpair", 0, EQUAL, AF_UNIX, 0);
            if (purpose.internet()) {
                filter.allow("socket", 0, EQUAL, AF_INET, 0);
                filter.allow("socket", 0, EQUAL, AF_INET6, 0);
            }
            return filter.export();
        } finally {
            library.seccomp_release(made);
        }
    }

    private void allow(String call) throws VmException {
        add(call, 0, null);
    }

    private void allow(String call, int argument, int comparison, long first, long second) throws VmException {
        var compared = new Memory(COMPARISON_BYTES);
        compared.setInt(0, argument);
        compared.setInt(4, comparison);
        compared.setLong(8, first);
        compared.setLong(16, second);
        add(call, 1, compared);
    }

    private void add(String call, int conditions, @Nullable Pointer compared) throws VmException {
        int number = library.seccomp_syscall_resolve_name(call);
        // Negative: this architecture, or this libseccomp, does not have it.
        if (number >= 0 && library.seccomp_rule_add_array(filter, ALLOW, number, conditions, compared) != 0) {
            throw Confinement.impossible("libseccomp does not take a rule for " + call, null);
        }
    }

    private byte[] export() throws VmException {
        var ends = new int[2];
        if (library.pipe2(ends, O_CLOEXEC) != 0) {
            throw Confinement.impossible("there is no pipe for libseccomp's filter", null);
        }
        try (var program = new Memory(BYTES_MAX)) {
            // A pipe holds twice as much.
            int exported = library.seccomp_export_bpf(filter, ends[1]);
            long length = exported == 0 ? library.read(ends[0], program, BYTES_MAX) : -1;
            if (length <= 0 || length == BYTES_MAX) {
                throw Confinement.impossible("libseccomp does not hand over its filter", null);
            }
            return program.getByteArray(0, (int) length);
        } finally {
            library.close(ends[0]);
            library.close(ends[1]);
        }
    }

    private static Seccomp library() throws VmException {
        try {
            return Loaded.LIBRARY;
        } catch (LinkageError e) {
            throw Confinement.impossible("there is no libseccomp 2", e);
        }
    }

    /// Loaded with its first use.
    private static final class Loaded {
        static final Seccomp LIBRARY = load();

        private static Seccomp load() {
            if (System.getProperty("jna.tmpdir") == null) {
                System.setProperty("jna.tmpdir", System.getProperty("java.io.tmpdir")); // otherwise the home folder
            }
            return Native.load(NAME, Seccomp.class);
        }
    }

    /// Functions as in seccomp.h, and the C library's for a pipe.
    private interface Seccomp extends Library {
        Pointer seccomp_init(int action);

        void seccomp_release(Pointer filter);

        int seccomp_syscall_resolve_name(String name);

        int seccomp_rule_add_array(Pointer filter, int action, int call, int conditions, @Nullable Pointer compared);

        int seccomp_export_bpf(Pointer filter, int descriptor);

        int pipe2(int[] ends, int flags);

        long read(int descriptor, Pointer octets, long length);

        int close(int descriptor);
    }
}
