package blackbox.evidence;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.schemas.RunId;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/// The data folder that revision a53f6e1 wrote, and its bundle; `golden/a53f6e1/README.md` says what is in
/// them.
public final class GoldenWarehouse {

    /// A closed run of [#CLOSED_EVENTS] events in one data file.
    public static final RunId CLOSED = new RunId("01kaj3v4e00000000000000001");

    public static final long CLOSED_EVENTS = 44;

    /// An open run of [#OPEN_EVENTS] events, in two data files and the spool.
    public static final RunId OPEN = new RunId("01kaj3v4e00000000000000002");

    public static final long OPEN_EVENTS = 33;

    /// The event of [#OPEN] whose kind has code 72; the next one has a column 56. That version knew neither.
    public static final long UNKNOWN_EVENT = 20;

    private GoldenWarehouse() {}

    private static InputStream resource(String name) throws IOException {
        InputStream in = GoldenWarehouse.class.getResourceAsStream("/golden/a53f6e1/" + name);
        if (in == null) {
            throw new FileNotFoundException(name);
        }
        return in;
    }

    /// Unpacks the data folder as `folder`.
    public static Path unpack(Path folder) throws IOException {
        try (ZipInputStream zip = new ZipInputStream(resource("warehouse.zip"))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Path file = folder.resolve(entry.getName());
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                Files.copy(zip, file);
            }
        }
        return folder;
    }

    /// Puts the bundle of [#CLOSED] into a file.
    public static Path bundle(Path file) throws IOException {
        try (InputStream in = resource("run.bundle.zip")) {
            Files.copy(in, file);
        }
        return file;
    }

    /// The key of its log of runs.
    public static NoteVerifier key() throws IOException {
        try (InputStream in = resource("log.pub")) {
            return NoteVerifiers.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8).strip());
        }
    }
}
