package blackbox.vm.qemu;

import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.Json;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.image.GuestImage;
import blackbox.vm.qemu.TrialMachine.Mode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Finds out whether a QEMU can be trusted with record and replay: a short guest that uses every device is
/// recorded, then replayed, and its output is compared byte for byte. Each QEMU is tried once for each kernel
/// and machine; the answer is cached below the data folder.
public final class QemuTrial {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final String INIT = "/blackbox/vm/qemu/trial.sh";
    private static final String ARGUMENTS =
            "console=ttyS0 quiet panic=-1 net.ifnames=0 preempt=voluntary mitigations=off";
    private static final String DONE = "blackbox: trial: done";
    private static final long DISK_BYTES = 4 << 20;

    private final Path data;
    private final TrialMachine machine;
    private final Duration limit;
    private final Boxes boxes;
    private final Progress progress;

    /// Trials whose answers are cached below `data`.
    public QemuTrial(Path data, TrialMachine machine, Progress progress) {
        this(data, machine, LIMIT, Box::in, progress);
    }

    QemuTrial(Path data, TrialMachine machine, Duration limit, Boxes boxes, Progress progress) {
        this.boxes = boxes;
        this.data = data;
        this.machine = machine;
        this.limit = limit;
        this.progress = progress;
    }

    /// In what a program is tried.
    @FunctionalInterface
    interface Boxes {
        Box in(Path folder) throws VmException;
    }

    /// The result of a trial.
    ///
    /// @param key covers everything that the answer depends on
    /// @param admitted whether the replay equalled the recording
    /// @param reason one sentence
    public record Admission(String key, boolean admitted, String reason) {}

    /// The known result for `qemu`; tries it if there is none.
    public Admission of(Qemu qemu, GuestImage image) throws VmException {
        Admission known = known(qemu, image);
        if (known != null) {
            return known;
        }
        progress.say("trying record and replay with " + qemu.version());
        Admission admission = attempt(qemu, image, key(qemu, image));
        Path note = note(qemu);
        try {
            Files.createDirectories(note.getParent());
        } catch (IOException e) {
            throw new VmException(Code.IO, note.getParent() + " could not be made", e);
        }
        Json.write(note, admission);
        return admission;
    }

    /// The result of an earlier trial of `qemu`, or null.
    public @Nullable Admission known(Qemu qemu, GuestImage image) throws VmException {
        var known = Json.cached(note(qemu), Admission.class);
        return known != null && known.key().equals(key(qemu, image)) ? known : null;
    }

    private Path note(Qemu qemu) {
        return new DataFolder(data)
                .cache()
                .resolve("trial-" + qemu.digest().toString().substring(0, 16) + ".json");
    }

    private String key(Qemu qemu, GuestImage image) throws VmException {
        String text = String.join(
                "\n",
                qemu.digest().toString(),
                image.sha256(GuestImage.KERNEL).toString(),
                machine.arguments(Mode.RECORD).toString(),
                machine.arguments(Mode.REPLAY).toString(),
                Hash.sha256(init()).toString());
        return Hash.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private Admission attempt(Qemu qemu, GuestImage image, String key) throws VmException {
        try (var scratch = ScratchFolder.in(new DataFolder(data).cache(), ".trial-")) {
            // Its box has the folder under its own name, whatever links lead there.
            Path initrd = Files.write(scratch.path().toRealPath().resolve("initrd.img"), image.initrdRunning(init()));
            long started = System.nanoTime();
            for (Mode mode : Mode.values()) {
                String failure = run(qemu, image, initrd, mode);
                if (failure != null) {
                    return new Admission(key, false, failure);
                }
            }
            String differing = differing(scratch.path());
            long seconds = Duration.ofNanos(System.nanoTime() - started).toSeconds();
            return differing == null
                    ? new Admission(key, true, "recorded and replayed a guest byte for byte in " + seconds + " s")
                    : new Admission(key, false, "its replay's " + differing + " differs from the recording's");
        } catch (IOException e) {
            throw new VmException(Code.IO, "the trial of QEMU could not be set up below " + data, e);
        }
    }

    /// Runs the guest once, in a folder named for the mode; returns what went wrong, or null.
    private @Nullable String run(Qemu qemu, GuestImage image, Path initrd, Mode mode) throws VmException, IOException {
        Path folder = Files.createDirectory(initrd.resolveSibling(mode.name()));
        try (var disk =
                new RandomAccessFile(folder.resolve(ExactTrialMachine.DISK).toFile(), "rw")) {
            disk.setLength(DISK_BYTES);
        }
        String word = mode == Mode.RECORD ? "record" : "replay";
        var argv = new ArrayList<>(qemu.program());
        argv.addAll(machine.arguments(mode));
        argv.addAll(List.of("-icount", "shift=3,rr=" + word + ",rrfile=../rr"));
        argv.addAll(List.of("-kernel", image.file(GuestImage.KERNEL).toString(), "-initrd", initrd.toString()));
        argv.addAll(List.of("-append", ARGUMENTS));
        Box box = boxes.in(folder.toRealPath()).writable(folder.resolve("..").toRealPath());
        qemu.open(box.readable(image.folder().toAbsolutePath()));
        Process process = box.start(argv, folder.resolve("qemu.log"));
        try {
            Thread answers = Thread.ofPlatform().daemon().start(() -> answer(process, mode));
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return "its " + word + " of a short guest did not end within " + limit.toSeconds() + " s";
            }
            answers.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "the trial of QEMU was interrupted", e);
        } finally {
            process.destroyForcibly();
            box.end();
        }
        if (process.exitValue() != 0) {
            return "its " + word + " of a short guest ended with " + process.exitValue() + ": "
                    + lastLine(folder.resolve("qemu.log"));
        }
        return Files.readString(folder.resolve(ExactTrialMachine.CONSOLE), StandardCharsets.ISO_8859_1)
                        .contains(DONE)
                ? null
                : "its " + word + " of a short guest did not reach the guest's end";
    }

    /// Sends the guest a line for each line that it writes: a replay must also repeat input from outside.
    private static void answer(Process process, Mode mode) {
        try (InputStream in = process.getInputStream();
                OutputStream out = process.getOutputStream()) {
            for (int octet = in.read(); octet >= 0; octet = in.read()) {
                if (octet == '\n' && mode == Mode.RECORD) {
                    out.write((Long.toHexString(System.nanoTime()) + "\n").getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                }
            }
        } catch (IOException e) {
            return; // it has ended
        }
    }

    private static @Nullable String differing(Path scratch) throws IOException {
        for (String output : List.of(ExactTrialMachine.CONSOLE, ExactTrialMachine.EVENTS, ExactTrialMachine.DISK)) {
            Path recorded = scratch.resolve(Mode.RECORD.name()).resolve(output);
            Path replayed = scratch.resolve(Mode.REPLAY.name()).resolve(output);
            if (!FileFingerprint.hash(recorded).equals(FileFingerprint.hash(replayed))) {
                return output;
            }
        }
        return null;
    }

    private static String lastLine(Path log) throws IOException {
        return Files.readAllLines(log, StandardCharsets.ISO_8859_1).stream()
                .filter(line -> !line.isBlank())
                .reduce((a, b) -> b)
                .orElse("it printed nothing");
    }

    private static byte[] init() throws VmException {
        try (InputStream in = QemuTrial.class.getResourceAsStream(INIT)) {
            if (in == null) {
                throw new IllegalStateException("this build lacks " + INIT);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new VmException(Code.IO, INIT + " could not be read", e);
        }
    }
}
