package blackbox.node.record;

import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.Vault;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;

/// Looks in many places for texts that must be nowhere, and for one that is in each of them: where that is
/// not found, the search was none.
final class SecretSearch {
    private static final String CANARY = "the canary";

    private final OctetSearch search;
    private final Map<String, Searched> places = new LinkedHashMap<>();

    /// What was found in a place.
    ///
    /// @param octets which were searched
    /// @param canaries how often the text is there that must be
    /// @param found what is there of what must not be
    record Searched(long octets, long canaries, Set<String> found) {
        Searched and(Searched more) {
            var all = new TreeSet<>(found);
            all.addAll(more.found);
            return new Searched(octets + more.octets, canaries + more.canaries, all);
        }
    }

    /// @param forms what must be nowhere, by what it is called
    SecretSearch(Map<String, byte[]> forms, String canary) {
        var sought = new LinkedHashMap<>(forms);
        sought.put(CANARY, canary.getBytes(StandardCharsets.ISO_8859_1));
        search = new OctetSearch(sought);
    }

    Map<String, Searched> places() {
        return Collections.unmodifiableMap(places);
    }

    void search(String place, String text) throws IOException {
        search(place, new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /// Searches a stream, as a part of a place.
    void search(String place, InputStream in) throws IOException {
        OctetSearch.Found all = search.in(in);
        var found = new TreeSet<String>();
        all.counts().forEach((name, count) -> {
            if (count > 0 && !name.equals(CANARY)) {
                found.add(name);
            }
        });
        places.merge(place, new Searched(all.octets(), all.counts().getOrDefault(CANARY, 0L), found), Searched::and);
    }

    /// What a process may write of its memory.
    void memory(String place, long pid) throws IOException {
        try (InputStream in = new ProcessMemory(pid).stream()) {
            search(place, in);
        }
    }

    /// All files below a folder, in what tar(1) makes of it: it reads no holes of disks, and follows no
    /// link.
    void folder(String place, Path folder) throws Exception {
        Process tar = new ProcessBuilder(
                        "tar", "--create", "--sparse", "--ignore-failed-read", "--file=-", "--directory=" + folder, ".")
                .redirectError(ProcessBuilder.Redirect.DISCARD) // sockets, and files that change
                .start();
        try (InputStream in = tar.getInputStream()) {
            search(place, in);
        } finally {
            tar.waitFor();
        }
    }

    /// The records of a broker's log, decompressed.
    void kafka(String place, Path log) throws IOException {
        for (Path segment : files(log, ".log")) {
            try (FileRecords records = FileRecords.open(segment.toFile(), false)) {
                for (Record record : records.records()) {
                    ByteBuffer value = record.value();
                    var octets = new byte[value.remaining()];
                    value.get(octets);
                    search(place, new ByteArrayInputStream(octets));
                }
            }
        }
    }

    /// The columns of data files, decoded by DuckDB.
    void parquet(String place, Path folder) throws IOException, SQLException {
        for (Path file : files(folder, ".parquet")) {
            try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(
                            "SELECT * FROM read_parquet('" + file + "', hive_partitioning = false)")) {
                int columns = rows.getMetaData().getColumnCount();
                while (rows.next()) {
                    for (int column = 1; column <= columns; column++) {
                        search(place, new ByteArrayInputStream(octets(rows, column)));
                    }
                }
            }
        }
    }

    private static byte[] octets(ResultSet rows, int column) throws SQLException {
        if (rows.getMetaData().getColumnTypeName(column).equals("BLOB")) {
            var blob = rows.getBlob(column);
            return blob == null ? new byte[0] : blob.getBytes(1, (int) blob.length());
        }
        return String.valueOf(rows.getString(column)).getBytes(StandardCharsets.UTF_8);
    }

    /// A run's payloads, decrypted.
    void payloads(String place, Path data, RunId run) throws IOException {
        var folder = new DataFolder(data);
        Vault vault = PayloadKeyFile.vault(folder);
        for (Path file : files(folder.captures(run), Vault.SUFFIX)) {
            String name = String.valueOf(file.getFileName());
            try (InputStream in = vault.stream(run, name.substring(0, name.length() - Vault.SUFFIX.length()))) {
                search(place, in);
            }
        }
    }

    /// A bundle's entries, decompressed, and the columns of the data files among them.
    void bundle(String place, File bundle, Path scratch) throws IOException, SQLException {
        Path files = Files.createTempDirectory(scratch, "bundle");
        try (var zip = new ZipFile(bundle)) {
            var entries = zip.entries();
            while (entries.hasMoreElements()) {
                var entry = entries.nextElement();
                Path copy = files.resolve(entry.getName().replace('/', '_'));
                try (InputStream in = zip.getInputStream(entry)) {
                    Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
                }
                try (InputStream in = Files.newInputStream(copy)) {
                    search(place, in);
                }
            }
        }
        parquet(place, files);
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
        }
    }
}
