package blackbox.bench.subject;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Debian's auditd, as files for a guest: taken out of its packages, nothing is installed here.
public final class Auditd {

    /// With the libraries that the guest's image may lack.
    private static final List<String> PACKAGES =
            List.of("auditd", "libaudit1", "libauparse0", "libwrap0", "libnsl2", "libtirpc3");

    private static final Pattern NEEDED = Pattern.compile(".*/(auditd\\.conf|sbin/audit(d|ctl)|lib\\w+\\.so\\.\\d+)");

    private Auditd() {}

    /// The files, and a program in the tracer's place that starts auditd.
    ///
    /// @throws IOException where apt cannot fetch the packages
    public static SortedMap<String, byte[]> guestFiles() throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("blackbox-bench-auditd");
        try {
            var download = new ArrayList<>(List.of("apt-get", "download", "-qq"));
            download.addAll(PACKAGES);
            run(folder, download);
            try (Stream<Path> fetched = Files.list(folder)) {
                for (Path each : fetched.toList()) {
                    run(folder, List.of("dpkg-deb", "-x", each.toString(), "root"));
                }
            }
            var files = new TreeMap<String, byte[]>();
            try (Stream<Path> all = Files.walk(folder.resolve("root"))) {
                for (Path each : all.filter(Auditd::isNeeded).toList()) {
                    files.put("auditd/" + each.getFileName(), Files.readAllBytes(each));
                }
            }
            try (InputStream starter = Auditd.class.getResourceAsStream("/blackbox/bench/auditd.py")) {
                if (starter == null) {
                    throw new IOException("auditd.py is missing from this build");
                }
                files.put("tracer/tracer.py", starter.readAllBytes());
            }
            return files;
        } finally {
            Folders.delete(folder);
        }
    }

    private static boolean isNeeded(Path file) {
        return Files.isRegularFile(file) && NEEDED.matcher(file.toString()).matches();
    }

    private static void run(Path folder, List<String> command) throws IOException, InterruptedException {
        int code = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + code
                    + "; the packages of auditd come from this machine's apt sources, run 'apt-get update'");
        }
    }
}
