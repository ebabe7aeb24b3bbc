package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.files.Folders;
import blackbox.node.image.LocalImages;
import blackbox.node.record.Installation;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.GuestDecoder;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerFiles;
import blackbox.recorder.guest.TracerReport;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.host.QemuHost;
import blackbox.vm.host.QemuMachine;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentCommand.AgentUser;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.workspace.TarFilter;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/// A real guest with the tracer in it: runs a script of the test's resources and gives back the events and the
/// workspace.
final class TracedGuest {

    private static final Duration PATIENCE = Duration.ofMinutes(15);

    /// What a run left: its events in order, the tracer's stream as it left the guest, the workspace's copy,
    /// and what the script printed.
    record Ran(List<Event> events, Path stream, Path workspace, String printed) {

        <T extends Event> List<T> all(Class<T> type) {
            return events.stream().filter(type::isInstance).map(type::cast).toList();
        }

        /// How many events are declared as lost.
        long lost() {
            return all(Event.RecorderLoss.class).stream()
                    .mapToLong(Event.RecorderLoss::lost)
                    .sum();
        }
    }

    private TracedGuest() {}

    static Ran run(Path folder, String script, String... argv) throws Exception {
        return run(folder, script, AgentUser.AGENT, argv);
    }

    static Ran runAsRoot(Path folder, String script, String... argv) throws Exception {
        return run(folder, script, AgentUser.ROOT, argv);
    }

    private static Ran run(Path folder, String script, AgentUser user, String... argv) throws Exception {
        Path data = Installation.shared();
        return run(data, image(data), VmRequest.Start.WARM, folder, script, user, argv);
    }

    private static GuestImage image(Path data) throws Exception {
        return new LocalImages(new DataFolder(data), TracedGuest::say).open(LocalImages.DEFAULT);
    }

    private static Ran run(
            Path data,
            GuestImage image,
            VmRequest.Start start,
            Path folder,
            String script,
            AgentUser user,
            String... argv)
            throws Exception {
        Path in = Files.createDirectories(folder.resolve("in"));
        Files.write(in.resolve(script), resource("/oracle/" + script));
        var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), TracedGuest::say);
        var request = new VmRequest(image, MachineSize.DEFAULT, Network.NONE, in, start);
        try (QemuMachine machine = host.start(request, event -> {})) {
            return run(machine, folder, user, argv);
        }
    }

    /// Runs a script as root, and beside the tracer, out of the agent's reach, a program that watches as
    /// well. The image is a copy with these programs.
    ///
    /// @param starter is executed in the tracer's place; it executes the tracer, which is in `traced/`
    /// @param watcher is in `audit/`
    static Ran runWatched(Path folder, String starter, String watcher, String script, String... argv) throws Exception {
        Path shared = Installation.shared();
        GuestImage image = image(shared);
        Path data = folder.resolve("data");
        Folders.createPrivate(data);
        for (String each : new String[] {"qemu", "cache"}) {
            Files.createSymbolicLink(data.resolve(each), shared.resolve(each));
        }
        Path copy = Files.createDirectories(data.resolve("images").resolve(LocalImages.DEFAULT));
        for (String file :
                new String[] {GuestImage.KERNEL, GuestImage.ROOT, GuestImage.INITRD_BASE, GuestImage.INITRD}) {
            Files.createLink(copy.resolve(file), image.file(file));
        }
        Files.copy(image.file(GuestImage.RECORD), copy.resolve(GuestImage.RECORD));
        var files = new TreeMap<String, byte[]>();
        TracerFiles.all().forEach((path, octets) -> files.put(traced(path), octets));
        String compiled = image.record().guestFiles().get(TracerFiles.COMPILED);
        files.put(traced(TracerFiles.COMPILED), new PackageArchive(shared).octets(Objects.requireNonNull(compiled)));
        files.put("tracer/tracer.py", resource("/oracle/" + starter));
        files.put("audit/" + watcher, resource("/oracle/" + watcher));
        GuestImage watched = new ImageStore(data).open(LocalImages.DEFAULT, GuestFiles.with(files), TracedGuest::say);
        return run(data, watched, VmRequest.Start.COLD, folder, script, AgentUser.ROOT, argv);
    }

    private static String traced(String path) {
        return path.replaceFirst("^tracer/", "traced/");
    }

    private static Ran run(QemuMachine machine, Path folder, AgentUser user, String... argv) throws Exception {
        List<Event> events = Collections.synchronizedList(new ArrayList<>());
        Path stream = folder.resolve("events");
        var clock = new HostClock(InstantSource.system());
        TracerReport report = TracerReport.of(machine.facts().ready().tracer());
        var ready = new ObjectMapper().readTree(machine.facts().ready().tracer());
        assertEquals("[]", ready.path("failed").toString(), "probes that do not attach to the image's kernel");
        say("the tracer was loaded in " + ready.path("attachSeconds") + " s after it had been compiled in "
                + ready.path("compileSeconds") + " s");
        // Pipes are read on platform threads: a virtual one would block its carrier.
        Thread decoder = Thread.ofPlatform().start(() -> decode(machine.events(), stream, clock, report, events));
        Thread framesOut = Thread.ofPlatform().start(() -> drop(machine.framesOut()));
        Thread framesIn = Thread.ofPlatform().start(() -> drop(machine.framesIn()));
        var printed = new ByteArrayOutputStream();
        List<byte[]> command = Stream.of(argv)
                .map(each -> each.getBytes(StandardCharsets.UTF_8))
                .toList();
        machine.startAgent(
                new AgentCommand(command, List.of(), null, user),
                new ByteArrayInputStream(new byte[0]),
                printed,
                printed);
        machine.awaitExit(PATIENCE);
        machine.drain(PATIENCE);
        Path out = folder.resolve("out");
        machine.collect(out, TarFilter.Limits.DEFAULT, PATIENCE);
        machine.powerOff(PATIENCE);
        decoder.join();
        framesOut.join();
        framesIn.join();
        return new Ran(List.copyOf(events), stream, out, printed.toString(StandardCharsets.UTF_8));
    }

    private static void decode(
            InputStream port, Path stream, HostClock clock, TracerReport report, List<Event> events) {
        try (OutputStream copy = Files.newOutputStream(stream)) {
            new GuestDecoder(clock, report, events::add).run(new Copied(port, copy));
        } catch (RecorderException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Keeps a copy of everything that is read.
    private static final class Copied extends FilterInputStream {

        private final OutputStream copy;

        Copied(InputStream in, OutputStream copy) {
            super(in);
            this.copy = copy;
        }

        @Override
        public int read() throws IOException {
            int octet = super.read();
            if (octet >= 0) {
                copy.write(octet);
            }
            return octet;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = super.read(into, offset, length);
            if (count > 0) {
                copy.write(into, offset, count);
            }
            return count;
        }
    }

    private static void drop(InputStream frames) {
        try {
            frames.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            say("the frames were cut");
        }
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = TracedGuest.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("no resource " + name);
            }
            return in.readAllBytes();
        }
    }

    private static void say(String what) {
        System.err.println("oracle: " + what);
    }
}
