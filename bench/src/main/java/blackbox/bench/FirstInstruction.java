package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Seconds from `./blackbox record` to its agent's first octet of output on the host, which `printf` writes
/// as the first thing that it does. By then VM, tracer and recorder are running and the run's first leaf is
/// on disk.
///
/// @param start from the snapshot that an earlier run made, or without one
record FirstInstruction(Start start) implements VmBenchmark {
    private static final int WARM_ROUNDS = Scale.CURRENT.rounds(5);
    private static final long PATIENCE_MINUTES = 10;

    enum Start {
        WARM,
        COLD
    }

    @Override
    public String name() {
        return switch (start) {
            case WARM -> "first-instruction-warm";
            case COLD -> "first-instruction-cold";
        };
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        return List.of(
                switch (start) {
                    case WARM -> warm(data);
                    case COLD -> cold(data);
                });
    }

    private BenchResult warm(VmData data) throws IOException, InterruptedException {
        measure(data); // creates the snapshot if there is none
        var times = new ArrayList<Duration>();
        var bare = new ArrayList<Duration>();
        for (int round = 0; round < WARM_ROUNDS; round++) {
            times.add(measure(data));
            bare.add(Launcher.time(Launcher.HELP));
        }
        return BenchResult.of(name(), Medians.seconds(times), "s")
                .beside("./blackbox --help", Medians.seconds(bare))
                .withNote("median of " + WARM_ROUNDS + "; a snapshot with the tracer attached is restored");
    }

    private BenchResult cold(VmData data) throws IOException, InterruptedException {
        VmData fresh = data.withImageOnly();
        try {
            return BenchResult.of(name(), Medians.seconds(List.of(measure(fresh))), "s")
                    .beside("./blackbox --help", Medians.seconds(List.of(Launcher.time(Launcher.HELP))))
                    .withNote("once; boots the guest, has clang compile the tracer in it, and makes the snapshot that"
                            + " later runs restore; the image exists already");
        } finally {
            Folders.delete(fresh.folder());
        }
    }

    private static Duration measure(VmData data) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(data.command("record", "--", "printf", "x"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        long launched = System.nanoTime();
        Process record = builder.start();
        try (InputStream out = record.getInputStream()) {
            record.getOutputStream().close();
            int first = out.read();
            Duration took = Duration.ofNanos(System.nanoTime() - launched);
            out.transferTo(OutputStream.nullOutputStream());
            if (!record.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES) || record.exitValue() != 0 || first != 'x') {
                throw new IOException("record did not end as expected: " + record.info());
            }
            return took;
        } finally {
            record.destroy();
        }
    }
}
