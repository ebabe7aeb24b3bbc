package blackbox.recorder.guest;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// The tracer's own files, as they go into the guest: `recorder/tracer/` of this build.
public final class TracerFiles {

    private static final List<String> NAMES = List.of(
            "bridge.py",
            "canary.py",
            "change.c",
            "compiled.py",
            "container.c",
            "control.c",
            "file.c",
            "kernel.py",
            "load.py",
            "net.c",
            "offsets.py",
            "path.c",
            "privilege.c",
            "process.c",
            "random.c",
            "tracer.c",
            "tracer.py");

    /// The program that compiles the tracer's BPF program in a guest, and what it makes: see `compiled.py`.
    public static final String COMPILER = "tracer/compiled.py";

    public static final String COMPILED = "tracer/compiled.json";

    private TracerFiles() {}

    /// Every file by its path in the guest's folder, `tracer/<name>`.
    public static SortedMap<String, byte[]> all() {
        var files = new TreeMap<String, byte[]>();
        for (String name : NAMES) {
            try (InputStream in = TracerFiles.class.getResourceAsStream("/blackbox/recorder/tracer/" + name)) {
                if (in == null) {
                    throw new IllegalStateException("this build lacks the tracer's file " + name);
                }
                files.put("tracer/" + name, in.readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException("the tracer's file " + name + " cannot be read", e);
            }
        }
        return files;
    }
}
