package blackbox.vm.qemu;

import blackbox.files.ProcessLock;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ChildProcess;
import blackbox.vm.Json;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.machine.Accelerator;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Derives a guest file by executing another one in the image's own kernel and root, in a machine that has no
/// network, does nothing else and then ends: what a compiler would otherwise do at each cold start, for a
/// minute where the guest is emulated. The program writes to the second disk: eight octets `compiled`, the
/// length (64 bits, big- endian), the SHA-256 and the content.
///
/// The machine has none but the files in that program's folder. What was made once of them is remembered below
/// the data folder ([CompiledBefore]); [#afresh] makes it again.
public final class GuestCompiler implements GuestFiles.Derivation {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int MEMORY_MIB = 1024;
    private static final int BYTES_MAX = 4 << 20;
    private static final long DISK_BYTES = BYTES_MAX + 4096;
    private static final byte[] MAGIC = "compiled".getBytes(StandardCharsets.US_ASCII);
    private static final int DIGEST_BYTES = 32;
    private static final int CONSOLE_LINES = 12;
    private static final int CONSOLE_BYTES = 8192;

    private static final String IMAGE = "image";
    private static final String INITRD = "initrd.img";
    private static final String DISK = "disk";
    private static final String CONSOLE = "console";
    private static final String ERRORS = "errors";

    private final Path data;
    private final String program;
    private final String path;
    private final Progress progress;
    private final boolean afresh;

    /// @param data the data folder
    /// @param program the guest file that is executed, a Python program, and is given the disk
    /// @param path of the file that it makes
    public GuestCompiler(Path data, String program, String path, Progress progress) {
        this(data, program, path, progress, false);
    }

    private GuestCompiler(Path data, String program, String path, Progress progress, boolean afresh) {
        this.data = data.toAbsolutePath().normalize();
        this.program = program;
        this.path = path;
        this.progress = progress;
        this.afresh = afresh;
    }

    @Override
    public GuestCompiler afresh() {
        return new GuestCompiler(data, program, path, progress, true);
    }

    @Override
    public String path() {
        return path;
    }

    /// Null where there is no QEMU: the image may be meant for another machine.
    ///
    /// @throws VmException `BOOT_FAILED` with the end of the guest's console
    @Override
    public byte @Nullable [] derive(GuestImage image, GuestFiles files) throws VmException {
        GuestFiles sources = files.around(program);
        Path note = note(image, sources);
        byte[] known = afresh ? null : known(note, image);
        if (known != null) {
            return known;
        }
        Runnable waiting = () -> progress.say("waiting for another process, which is compiling the same tracer");
        // A minute or two of a processor: who comes meanwhile takes what comes of it.
        try (ProcessLock _ = ProcessLock.take(lock(note, image), waiting)) {
            known = afresh ? null : known(note, image);
            return known == null ? compile(image, sources, note) : known;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the lock beside " + note + " could not be taken", e);
        }
    }

    private byte @Nullable [] known(Path note, GuestImage image) throws VmException {
        var archive = new PackageArchive(data);
        String content = CompiledBefore.read(note).content(image);
        return content != null && archive.holds(content) ? archive.octets(content) : null;
    }

    private byte @Nullable [] compile(GuestImage image, GuestFiles sources, Path note) throws VmException {
        Qemu qemu;
        try {
            qemu = Qemu.find(data);
        } catch (VmException e) {
            if (e.code() != Code.QEMU_MISSING) {
                throw e;
            }
            progress.say(
                    "the tracer is not compiled for this image: " + e.getMessage()
                            + "; it will be when the image is first opened where there is a QEMU, which gives it another digest");
            return null;
        }
        progress.say("compiling the tracer for this image, once; emulated, that takes about a minute");
        byte[] made = make(qemu, image, sources);
        Json.write(note, CompiledBefore.read(note).with(new PackageArchive(data).take(made), image));
        return made;
    }

    /// Held by who compiles for the root of this image.
    static Path lock(Path note, GuestImage image) {
        String root = image.sha256(GuestImage.ROOT).toString().substring(0, 16);
        return note.resolveSibling(note.getFileName() + "." + root + ".lock");
    }

    /// Where it is remembered what was made of these files.
    Path note(GuestImage image, GuestFiles files) throws VmException {
        var text = new StringBuilder();
        text.append(image.sha256(GuestImage.KERNEL)).append('\n');
        text.append(image.sha256(GuestImage.INITRD_BASE)).append('\n');
        text.append(image.kernelArguments()).append('\n');
        text.append(image.record().tools()).append('\n');
        files.digests()
                .forEach((file, digest) ->
                        text.append(file).append(' ').append(digest).append('\n'));
        String key =
                Hash.sha256(text.toString().getBytes(StandardCharsets.UTF_8)).toString();
        Path cache = new DataFolder(data).cache();
        try {
            Files.createDirectories(cache);
        } catch (IOException e) {
            throw new VmException(Code.IO, cache + " could not be made", e);
        }
        return cache.resolve("compiled-" + key.substring(0, 32) + ".json");
    }

    private byte[] make(Qemu qemu, GuestImage image, GuestFiles files) throws VmException {
        Accelerator accelerator = AcceleratorProbe.choose(data, qemu, image);
        try (var scratch = ScratchFolder.ofThisProcess(new DataFolder(data).cache(), ".compiling-")) {
            Files.createSymbolicLink(
                    scratch.path().resolve(IMAGE), image.folder().toAbsolutePath());
            Files.write(scratch.path().resolve(INITRD), image.initrdWith(files));
            Path disk = scratch.path().resolve(DISK);
            try (var raw = new RandomAccessFile(disk.toFile(), "rw")) {
                raw.setLength(DISK_BYTES);
            }
            List<String> argv = arguments(qemu, accelerator, image);
            Box box = Box.in(scratch.path()).memory(MEMORY_MIB).writable(scratch.path());
            qemu.open(box.readable(image.folder().toAbsolutePath()));
            if (accelerator.kind() == Accelerator.Kind.KVM) {
                box.kvm();
            }
            Process process = box.start(argv, scratch.path().resolve(ERRORS));
            boolean ended = awaited(process);
            box.end();
            byte[] made = read(disk);
            if (made != null) {
                return made;
            }
            String how =
                    ended ? "ended with " + process.exitValue() : "did not end within " + LIMIT.toMinutes() + " min";
            throw new VmException(
                    Code.BOOT_FAILED,
                    "the tracer could not be compiled: the machine " + how + "; its console ends with:\n"
                            + last(scratch.path().resolve(CONSOLE))
                            + last(scratch.path().resolve(ERRORS)));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the machine that compiles the tracer could not be set up below " + data, e);
        }
    }

    private static boolean awaited(Process process) throws VmException {
        try {
            ChildProcess.endWithUs(process, Duration.ZERO);
            return process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "compiling the tracer was interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    /// The machine runs in its own folder, and all paths are relative to that.
    private List<String> arguments(Qemu qemu, Accelerator accelerator, GuestImage image) {
        boolean emulated = accelerator.kind() == Accelerator.Kind.TCG;
        var argv = new ArrayList<>(qemu.program());
        argv.addAll(List.of("-sandbox", Qemu.SANDBOX));
        argv.addAll(List.of("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none"));
        argv.addAll(List.of("-machine", "q35,usb=off,vmport=off,hpet=off,smm=off"));
        argv.addAll(List.of("-accel", emulated ? "tcg" : "kvm", "-cpu", emulated ? "Nehalem" : "host"));
        argv.addAll(List.of("-m", Integer.toString(MEMORY_MIB), "-serial", "file:" + CONSOLE));
        argv.addAll(List.of("-kernel", IMAGE + "/" + GuestImage.KERNEL, "-initrd", INITRD));
        argv.addAll(List.of(
                "-append",
                String.join(" ", image.kernelArguments()) + (emulated ? " mitigations=off" : "") + " blackbox.compile="
                        + program));
        argv.addAll(disk("root", "read-only=on,file.filename=" + IMAGE + "/" + GuestImage.ROOT));
        argv.addAll(disk("made", "file.filename=" + DISK));
        return argv;
    }

    private static List<String> disk(String name, String settings) {
        return List.of(
                "-blockdev",
                "driver=raw,node-name=" + name + ",file.driver=file," + settings,
                "-device",
                "virtio-blk-pci,werror=report,drive=" + name);
    }

    /// The content on the disk, or null if there is none.
    private static byte @Nullable [] read(Path disk) throws IOException {
        try (var in = new DataInputStream(Files.newInputStream(disk))) {
            byte[] magic = in.readNBytes(MAGIC.length);
            long length = in.readLong();
            byte[] digest = in.readNBytes(DIGEST_BYTES);
            if (!Arrays.equals(magic, MAGIC) || length <= 0 || length > BYTES_MAX) {
                return null;
            }
            byte[] content = in.readNBytes((int) length);
            return Arrays.equals(Hash.sha256(content).toBytes(), digest) ? content : null;
        }
    }

    private static String end(Path text) throws IOException {
        try (var file = new RandomAccessFile(text.toFile(), "r")) {
            file.seek(Math.max(0, file.length() - CONSOLE_BYTES));
            var octets = new byte[(int) Math.min(CONSOLE_BYTES, file.length())];
            file.readFully(octets);
            return new String(octets, StandardCharsets.ISO_8859_1);
        }
    }

    private static String last(Path text) throws IOException {
        if (!Files.exists(text)) {
            return "";
        }
        List<String> lines = end(text).lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - CONSOLE_LINES), lines.size()))
                .replaceAll("[\\p{Cntrl}&&[^\n]]", "?");
    }
}
