package blackbox.vm.confine;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import blackbox.vm.Command;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// One confined process: its files, and nothing else of this host.
///
/// It has namespaces of its own for mounts, processes, IPC, the host's name, cgroups and, unless it is given
/// the network, for that; no capabilities and no way to new ones; only the system calls of [SyscallFilter];
/// limits on memory, open files, threads and the length of files; no core dumps. Its root is empty and
/// read-only, but for the files that it was given, at the paths that they have outside. There is no `/proc`. As
/// an ordinary user's it also has a user namespace, as root's it is an [OtherUser]. It ends when this process
/// does, however that ends.
///
/// Where the process is not confined ([Confinement]) it is just started in its folder.
public final class Box {
    static final String BUBBLEWRAP = "bwrap";
    private static final Duration STEP_TIMEOUT = Duration.ofSeconds(20);

    /// For what QEMU maps besides the guest's RAM: its code, what it translates code to (1 GiB), the stacks and
    /// arenas of its threads.
    private static final long OWN_MEMORY_MIB = 6 << 10;

    private static final int OPEN_FILES_MAX = 1024;
    private static final long LOOK_EVERY_NS = 500_000;
    private static final String THREADS = "--nproc=128:128";
    private static final long FILE_BYTES_MAX = 64L << 30;
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,3})");
    private static final String NOBODY = "65534";
    /// Descriptors at which bubblewrap reads its arguments and the filter of system calls, and their files.
    private static final String ARGUMENTS = "8";

    private static final String FILTER = "9";

    private static final String ARGUMENTS_FILE = ".box";
    private static final String FILTER_FILE = ".seccomp";
    private static final String OPENED =
            "exec \"$@\" " + ARGUMENTS + "<" + ARGUMENTS_FILE + " " + FILTER + "<" + FILTER_FILE;
    private static final String WRITABLE = "--bind";
    private static final String READABLE = "--ro-bind";

    private static final Path NAME_SERVERS = Path.of("/etc/resolv.conf");
    private static final Path KVM = Path.of("/dev/kvm");
    private static final List<Path> DEVICES =
            List.of(Path.of("/dev/null"), Path.of("/dev/zero"), Path.of("/dev/urandom"));
    /// Gives up, inside the box, what root may.
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

    private static final Path DEBIANS_LIBRARIES = Path.of("/usr/lib/x86_64-linux-gnu");

    /// Starts all confined processes: the kernel ends such a process with the thread that started it.
    private static final ExecutorService STARTER = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().daemon().name("box-starter").unstarted(task));

    private final Path folder;
    private final Confinement confinement;
    private final @Nullable OtherUser user;
    private final List<Place> places = new ArrayList<>();
    /// The first process of the namespaces, which end with it.
    private @Nullable ProcessHandle holder;

    private @Nullable ScratchFolder scratch;
    private long fileBytesMax = FILE_BYTES_MAX;
    private int memoryMib;
    private boolean ended;
    private boolean network;
    private boolean locks;
    private boolean kvm;

    private Box(Path folder, Confinement confinement, @Nullable OtherUser user) {
        this.folder = folder;
        this.confinement = confinement;
        this.user = user;
    }

    /// Something of the host's in the box.
    ///
    /// @param source where it is outside
    /// @param path where it is inside
    private record Place(String option, Path source, Path path) {}

    /// A box around a process that runs in `folder`, which it can read; what it may write there must be named.
    ///
    /// @throws VmException `NOT_CONFINED`
    public static Box in(Path folder) throws VmException {
        Confinement confinement = Confinement.ofThisProcess();
        var box = new Box(folder, confinement, confinement.confines() ? OtherUser.ifWeAreRoot() : null);
        if (box.user != null) {
            box.libraries().installed(SETPRIV);
        }
        return box;
    }

    /// No box: the program is started in its folder. For programs of tests, which need what a QEMU does not.
    public static Box unconfined(Path folder) {
        return new Box(folder, Confinement.NONE, null);
    }

    public Confinement confinement() {
        return confinement;
    }

    /// The guest's memory; the process's own comes on top.
    public Box memory(int mib) {
        memoryMib = mib;
        return this;
    }

    /// Lets it use the host's network, and its name servers.
    public Box network() throws VmException {
        network = true;
        if (Files.exists(NAME_SERVERS)) {
            // It is a link on many hosts.
            places.add(new Place(READABLE, real(NAME_SERVERS), NAME_SERVERS));
        }
        return this;
    }

    /// Lets it lock files, as `qemu-img` does with those that it makes.
    public Box locks() {
        locks = true;
        return this;
    }

    /// How long the files may become that it writes.
    public Box longestFile(long bytes) {
        fileBytesMax = bytes;
        return this;
    }

    /// Lets it use `/dev/kvm`.
    public Box kvm() {
        kvm = true;
        return this;
    }

    /// Lets it read what the operating system installed for everybody; what is absent is left out.
    public Box installed(Path path) throws VmException {
        if (Files.isSymbolicLink(path)) {
            try {
                places.add(new Place("--symlink", Files.readSymbolicLink(path), path));
            } catch (IOException e) {
                throw Confinement.impossible(path + " cannot be read", e);
            }
        } else if (Files.exists(path)) {
            places.add(new Place(READABLE, path, path));
        }
        return this;
    }

    /// Lets it load the operating system's libraries.
    public Box libraries() throws VmException {
        Path all = Path.of("/usr/lib");
        installed(Path.of("/lib")).installed(Path.of("/lib64")).installed(Path.of("/usr/lib64"));
        return installed(Files.exists(DEBIANS_LIBRARIES) ? DEBIANS_LIBRARIES : all);
    }

    /// Lets it read a file, or a whole folder, of this user's.
    public Box readable(Path path) throws VmException {
        if (user != null) {
            user.letRead(real(path));
        }
        places.add(new Place(READABLE, path, path));
        return this;
    }

    /// Lets it write a file, or in a folder.
    public Box writable(Path path) throws VmException {
        return writable(path, path);
    }

    /// Lets it write `source`, which it finds at `path`.
    public Box writable(Path source, Path path) throws VmException {
        if (user != null) {
            user.give(real(source));
        }
        places.add(new Place(WRITABLE, source, path));
        return this;
    }

    /// Deletes a folder once the process has ended.
    public void deleteAtEnd(ScratchFolder folder) {
        scratch = folder;
    }

    /// Starts a process. The caller owns its streams and waits for its end, and then calls [#end].
    ///
    /// @param errors where its standard error goes; null for a stream
    /// @throws VmException `NOT_CONFINED`, `TOOL_MISSING`
    public Process start(List<String> argv, @Nullable Path errors) throws VmException {
        // In its own session: ctrl-C in a terminal goes to the whole process group, but ending it is up to us.
        var words = new ArrayList<>(List.of("setsid"));
        if (confinement.confines()) {
            if (user != null) {
                user.give(real(folder));
            }
            write(folder.resolve(FILTER_FILE), SyscallFilter.of(new SyscallFilter.Purpose(network, locks)));
            words.addAll(List.of("sh", "-c", OPENED, "sh"));
            words.addAll(limits());
            words.addAll(List.of(program(), "--args", ARGUMENTS));
            // Not on the command line, which every user of this host can read.
            write(folder.resolve(ARGUMENTS_FILE), (String.join("\0", walls()) + "\0").getBytes(UTF_8));
            if (user != null) {
                words.addAll(asOther(user));
            }
        }
        words.addAll(argv);
        var command = new Command(words, folder, Map.of(), STEP_TIMEOUT);
        try {
            return STARTER.submit(() -> errors == null ? command.start() : command.start(errors))
                    .get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof VmException failed) {
                throw failed;
            }
            throw new VmException(Code.TOOL_FAILED, "a confined process could not be started", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while a process was started", e);
        }
    }

    /// Makes this user the owner of something that the process made.
    public void takeBack(Path made) throws VmException {
        if (user != null) {
            user.takeBack(made);
        }
    }

    /// Lets a process that runs already use what was made since in a folder that it may write.
    public void give(Path made) throws VmException {
        if (user != null) {
            user.give(made);
        }
    }

    /// The process in the box, once it runs: what [#start] returns is the box around it.
    public ProcessHandle inside(Process started) {
        ProcessHandle innermost = started.toHandle();
        for (Optional<ProcessHandle> child = innermost.children().findFirst();
                child.isPresent();
                child = innermost.children().findFirst()) {
            holder = innermost;
            innermost = child.get();
        }
        return innermost;
    }

    /// Bounds the number of an ordinary user's threads in the box, once it runs: before, all of the user's
    /// processes would count.
    public void limitThreads(ProcessHandle inside) throws VmException {
        if (confinement.confines() && user == null && countsThreadsByNamespace()) {
            Command.of("prlimit", THREADS, "--pid", Long.toString(inside.pid())).run();
        }
    }

    /// Linux does from 5.14 on; before, it counts all of the user's threads on the host.
    private static boolean countsThreadsByNamespace() {
        Matcher release = RELEASE.matcher(System.getProperty("os.version"));
        return release.lookingAt()
                && Integer.parseInt(release.group(1)) * 1000 + Integer.parseInt(release.group(2)) >= 5014;
    }

    /// To be called once the process has ended: waits until its namespaces are gone, too, and makes this user
    /// the owner of what it wrote.
    public synchronized void end() throws VmException {
        if (ended) {
            return;
        }
        ended = true;
        ProcessHandle last = holder;
        long deadline = System.nanoTime() + STEP_TIMEOUT.toNanos();
        while (last != null && runs(last) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
        ScratchFolder copies = scratch;
        if (copies != null) {
            scratch = null;
            copies.close();
        }
        if (user == null) {
            return;
        }
        var given = new ArrayList<>(List.of(folder));
        places.stream().filter(each -> each.option().equals(WRITABLE)).forEach(each -> given.add(each.source()));
        for (Path each : given) {
            if (Files.exists(each, LinkOption.NOFOLLOW_LINKS)) {
                user.takeBack(each);
            }
        }
    }

    /// Whether it has not ended. Once it has, it remains until this host's first process looks for it, which
    /// may take that one a second.
    private static boolean runs(ProcessHandle process) {
        try {
            String status = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"), ISO_8859_1);
            // Behind the program's name, which may itself contain anything.
            return process.isAlive() && !status.startsWith(") Z", status.lastIndexOf(')'));
        } catch (IOException e) {
            return false;
        }
    }

    private List<String> limits() {
        var words = new ArrayList<>(List.of(
                "prlimit",
                "--core=0:0",
                "--nofile=" + OPEN_FILES_MAX + ":" + OPEN_FILES_MAX,
                "--fsize=" + fileBytesMax + ":" + fileBytesMax,
                "--as=" + ((OWN_MEMORY_MIB + memoryMib) << 20)));
        if (user != null) {
            words.add(THREADS);
        }
        return words;
    }

    private List<String> walls() throws VmException {
        var words = new ArrayList<>(List.of("--die-with-parent", "--seccomp", FILTER));
        for (String each : List.of("ipc", "pid", "uts", "cgroup-try")) {
            words.add("--unshare-" + each);
        }
        if (!network) {
            words.add("--unshare-net");
        }
        if (user == null) {
            words.addAll(List.of("--unshare-user", "--uid", NOBODY, "--gid", NOBODY));
        } else {
            words.addAll(List.of("--cap-drop", "ALL"));
            for (String each : List.of("SETUID", "SETGID", "SETPCAP", "DAC_READ_SEARCH")) {
                words.addAll(List.of("--cap-add", "CAP_" + each));
            }
        }
        var all = new ArrayList<>(places);
        if (places.stream().noneMatch(each -> folder.startsWith(each.path()))) {
            all.addFirst(new Place(READABLE, folder, folder));
        }
        for (Path device : DEVICES) {
            all.add(new Place("--dev-bind", device, device));
        }
        if (kvm) {
            all.add(new Place("--dev-bind", KVM, KVM));
        }
        var last = new HashMap<Path, Place>();
        all.forEach(each -> last.put(each.path(), each)); // what was said later of a path holds
        var known = new HashSet<Path>();
        for (Place each : all) {
            if (each.equals(last.get(each.path())) && known.add(each.path())) {
                makeFolders(each.path().getParent(), known, words);
                words.addAll(List.of(
                        each.option(), each.source().toString(), each.path().toString()));
            }
        }
        words.addAll(List.of("--remount-ro", "/", "--chdir", folder.toString()));
        return words;
    }

    /// Folders on the way to a place, which everybody may enter: bubblewrap's own are its user's.
    private static void makeFolders(@Nullable Path path, Set<Path> known, List<String> words) {
        if (path != null && path.getParent() != null && known.add(path)) {
            makeFolders(path.getParent(), known, words);
            words.addAll(List.of("--perms", "0755", "--dir", path.toString()));
        }
    }

    private List<String> asOther(OtherUser who) throws VmException {
        String id = Integer.toString(who.id());
        var groups = new ArrayList<>(List.of(Integer.toString(who.readers())));
        if (kvm) {
            groups.add(String.valueOf(group(KVM)));
        }
        return List.of(
                SETPRIV.toString(),
                "--reuid",
                id,
                "--regid",
                id,
                "--groups",
                String.join(",", groups),
                "--inh-caps=-all",
                "--bounding-set=-all",
                "--no-new-privs");
    }

    private static Object group(Path path) throws VmException {
        try {
            return Files.getAttribute(path, "unix:gid");
        } catch (IOException e) {
            throw Confinement.impossible(path + " cannot be read", e);
        }
    }

    private static void write(Path file, byte[] octets) throws VmException {
        try {
            Files.write(file, octets);
        } catch (IOException e) {
            throw Confinement.impossible(file + " cannot be written", e);
        }
    }

    private static String program() throws VmException {
        Path found = Command.find(BUBBLEWRAP);
        if (found == null) {
            throw Confinement.impossible("bubblewrap is not installed", null);
        }
        return found.toString();
    }

    private static Path real(Path path) throws VmException {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw Confinement.impossible(path + " cannot be read", e);
        }
    }
}
