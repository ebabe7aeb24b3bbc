package blackbox.replay.rerun;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.cassette.Cassette;
import blackbox.replay.cassette.Miss;
import blackbox.replay.cassette.Recording;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.replay.cassette.TestGuest;
import blackbox.replay.compare.ComparedFiles;
import blackbox.replay.compare.EventTape;
import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.files.CleanDisk;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.rerun.BuildSide.AfterMiss;
import blackbox.replay.rerun.BuildSide.Node;
import blackbox.replay.rerun.RerunComparison.Judged;
import blackbox.replay.verdict.ClockOffset;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import blackbox.vm.Command;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/// A [SmallBuild] that was recorded: sealed events, sealed output, a disk, a cassette. It is replayed as often as
/// wanted, without a machine, and each replay is judged as one of a machine is.
final class RecordedBuild {
    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");
    private static final Instant NOW = Instant.parse("2026-11-25T09:00:00Z");
    private static final int DISK_KIB = 2_048;
    private static final String OPENING = """
            {"tier":"live","image":{"name":"default","digest":"%s"},"snapshot":null,"command":["sh","build.sh"],\
            "environment":[],"user":"agent","network":"user","workspace":{"sha256":"%s","bytes":1},\
            "recorder":{"version":"1","key":"k","certificate":"c","outputBytesMax":1000000}}""".formatted("43".repeat(32), "aa".repeat(32));

    private final Path folder;
    private final Recordings recordings;
    private final RerunComparison.Recorded recorded;
    private final Cassette cassette;
    private final long startNs;
    private final Map<Map<String, Node>, Path> disks = new HashMap<>();

    /// Records it.
    RecordedBuild(Path folder, SmallBuild build, long numbers, long turns) throws Exception {
        this.folder = folder;
        this.recordings = Recordings.unchecked(folder);
        var data = new DataFolder(folder);
        var conversations = new Recording(new Random(numbers));
        var clock = new long[1];
        try (var kept = new KeptOutput(Files.createDirectories(data.captures(RUN)), 1_000_000, () -> clock[0])) {
            var side = new BuildSide(
                    numbers,
                    turns,
                    (nowNs, stream, text) ->
                            print(clock, nowNs, kept.through(stream, OutputStream.nullOutputStream()), text),
                    (local, fetch) -> {
                        conversations.connection(local, fetch.port(), turns(fetch));
                        return List.of();
                    },
                    AfterMiss.END);
            side.events.add(new Event.RunOpen(side.events.host(), Text.of("build"), OPENING));
            side.events.add(new Event.TracerReady(side.events.host(), "{}"));
            begin(side);
            startNs = side.events.nowNs();
            side.run(build);
            seal(data, side, kept);
            Path disk = disk(side.files);
            recorded = new RerunComparison.Recorded(
                    recordings,
                    RunFacts.read(recordings, RUN),
                    SealedCapture.readAll(recordings, RUN),
                    () -> new RecordedFiles.Known(CleanDisk.open(disk)));
        }
        cassette = conversations.cassette();
    }

    private static void begin(BuildSide side) {
        side.events.add(new Event.ProcessRunning(side.events.guest(side.events.init), Text.of("/usr/bin/python3.11")));
    }

    private static void print(long[] clock, long nowNs, OutputStream stream, String text) throws IOException {
        clock[0] = nowNs;
        stream.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<Turn> turns(Deed.Fetch fetch) {
        return List.of(
                new Turn(true, fetch.request().getBytes(StandardCharsets.UTF_8)),
                new Turn(false, fetch.answer().getBytes(StandardCharsets.UTF_8)));
    }

    private void seal(DataFolder data, BuildSide side, KeptOutput kept) throws Exception {
        var sealer = new RunSealer(
                RUN,
                KeyFile.loadOrCreate(data.keys(), "recorder"),
                Spool.create(data.spool(), RUN),
                InstantSource.fixed(NOW));
        side.events.events().forEach(sealer::append);
        for (CaptureFile file : kept.files()) {
            file.sealNew(side.events::nowNs).forEach(sealer::append);
        }
        String close =
                "{\"ended\":\"exited\",\"stdout\":{\"bytes\":%d,\"ended\":true},\"stderr\":{\"bytes\":%d,\"ended\":true},\"clock\":{\"startNs\":%d,\"endNs\":%d}}"
                        .formatted(
                                kept.printedBytes(PrintedStream.STDOUT),
                                kept.printedBytes(PrintedStream.STDERR),
                                startNs,
                                side.events.nowNs());
        sealer.append(new Event.RunClose(side.events.host(), sealer.size(), 0, 0, null, close));
        sealer.seal();
    }

    /// Executes a build again and judges it.
    ///
    /// @param numbers seed of process numbers, ports, names and times
    /// @param turns seed of whose turn it is
    Judged replay(SmallBuild build, long numbers, long turns, AfterMiss afterMiss) throws Exception {
        var clock = new long[1];
        Path scratch = Files.createDirectories(folder.resolve("cache"));
        try (var tape = new EventTape(scratch);
                var printed = ReplayedOutput.in(scratch)) {
            printed.keep(1 << 20, () -> clock[0]);
            var guest = new TestGuest(cassette, new Random(numbers), 0);
            var side = new BuildSide(
                    numbers,
                    turns,
                    (nowNs, stream, text) -> print(clock, nowNs, printed.through(stream), text),
                    (local, fetch) -> exchange(guest, local, fetch),
                    afterMiss);
            begin(side);
            long began = side.events.nowNs();
            side.run(build);
            if (!side.wasEnded()) {
                side.events.add(new Event.RunClose(side.events.host(), 0, 0, build.agent.exit(), null, "{}"));
            }
            side.events.events().forEach(tape::accept);
            tape.finish();
            return new RerunComparison(recorded, afterMiss == AfterMiss.END ? OnMiss.END : OnMiss.GO_ON, Map.of())
                    .with(
                            new RerunComparison.Replayed(
                                    RunInputs.UNKNOWN,
                                    tape,
                                    printed,
                                    left(side),
                                    null,
                                    new RerunComparison.Ending(
                                            !side.wasEnded(),
                                            side.missed(),
                                            new ClockOffset(began - startNs, null),
                                            guest.peer().played()),
                                    List.of()),
                            Agreements.NOBODY,
                            NOW);
        }
    }

    private ComparedFiles.Opener left(BuildSide side) throws Exception {
        if (side.wasEnded()) {
            return () -> new RecordedFiles.Unknown("the replay's command did not come to its end");
        }
        Path disk = disk(side.files);
        return () -> new RecordedFiles.Known(CleanDisk.open(disk));
    }

    private static List<Miss> exchange(TestGuest guest, int local, Deed.Fetch fetch) {
        int before = guest.misses.size();
        guest.open(local, new Endpoint(fetch.ip(), fetch.port()), turns(fetch));
        guest.settle();
        return List.copyOf(guest.misses.subList(before, guest.misses.size()));
    }

    /// A disk with these files; the same one for the same files.
    private Path disk(Map<String, Node> files) throws Exception {
        Path known = disks.get(files);
        if (known != null) {
            return known;
        }
        Path tree = Files.createTempDirectory(folder, "tree");
        Files.createDirectories(tree.resolve("upper/tmp"));
        for (Map.Entry<String, Node> file : files.entrySet()) {
            Node node = file.getValue();
            Path path = tree.resolve("upper" + file.getKey());
            Files.createDirectories(path.getParent());
            if (node.target() != null) {
                Files.createSymbolicLink(path, Path.of(node.target()));
                continue;
            }
            Files.writeString(path, node.content());
            Files.setPosixFilePermissions(path, permissions(node.mode()));
        }
        Path image = folder.resolve("disk" + disks.size() + ".ext4");
        Command.of("mke2fs", "-q", "-F", "-t", "ext4", "-d", tree.toString(), image.toString(), DISK_KIB + "k")
                .run();
        disks.put(Map.copyOf(files), image);
        return image;
    }

    private static Set<PosixFilePermission> permissions(int mode) {
        var permissions = new HashSet<PosixFilePermission>();
        PosixFilePermission[] all = PosixFilePermission.values(); // from the owner's reading to the others' executing
        for (int i = 0; i < all.length; i++) {
            if ((mode >> (8 - i) & 1) != 0) {
                permissions.add(all[i]);
            }
        }
        return permissions;
    }
}
