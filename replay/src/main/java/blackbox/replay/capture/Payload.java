package blackbox.replay.capture;

import blackbox.evidence.store.Recordings;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.OpenPayload;
import blackbox.vault.ShredMark;
import blackbox.vault.Vault;
import blackbox.vault.VaultException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// One file that is stored beside a run's events, encrypted or not.
///
/// @param name the file's name in its run
public record Payload(Vault vault, RunId run, String name) {

    /// How to get it back, for people.
    public static final String MEND =
            " from where the run was recorded, or from a backup, together with keys/runs and keys/payload.key";

    /// A file of a run in this process's data folder.
    public static Payload of(Recordings recordings, RunId run, String name) {
        return new Payload(PayloadKeyFile.vault(new DataFolder(recordings.data())), run, name);
    }

    /// Refuses a run whose payloads were shredded.
    ///
    /// @throws ReplayException `MISSING`
    public static void refuseShredded(Recordings recordings, RunId run) throws ReplayException, IOException {
        ShredMark mark = PayloadKeyFile.vault(new DataFolder(recordings.data())).shredded(run);
        if (mark != null) {
            throw new ReplayException(Code.MISSING, mark.text());
        }
    }

    /// Where it is, or should be.
    public Path file() {
        return vault.file(run, name);
    }

    public boolean exists() {
        return vault.exists(run, name);
    }

    /// Its octets; the reader must check that they are those that the run sealed.
    public InputStream stream() throws IOException {
        return vault.stream(run, name);
    }

    /// Opens it for reading at any offset.
    public OpenPayload open() throws IOException {
        return vault.open(run, name);
    }

    /// How many octets it has, by the length of its file.
    public long size() throws IOException {
        return vault.size(run, name);
    }

    /// All of it as text, at most `octetsMax`.
    public String text(int octetsMax) throws IOException {
        try (InputStream in = stream()) {
            return new String(in.readNBytes(octetsMax), StandardCharsets.UTF_8);
        }
    }

    /// What it means that a segment of it does not have the digest that was sealed.
    ReplayException altered(CaptureSegment segment) {
        return new ReplayException(
                Code.ALTERED,
                file() + " is not what was sealed: "
                        + (segment.index() < 0 ? "the verdict" : "event " + segment.index())
                        + " has a different digest for its octets " + segment.from() + " to " + segment.to()
                        + "; copy captures/" + run + MEND);
    }

    /// What it means that it ends too early.
    ///
    /// @param intact how many octets it has of those that were sealed
    ReplayException truncated(long intact, long sealed) {
        return new ReplayException(
                Code.MISSING,
                file() + " is truncated: complete up to octet " + intact + " of " + sealed
                        + " that were sealed; copy captures/" + run + MEND);
    }

    /// What a failure to read it means.
    public ReplayException failure(IOException e) {
        return switch (e) {
            case VaultException fault ->
                switch (fault.code()) {
                    case SHREDDED -> new ReplayException(Code.MISSING, String.valueOf(fault.getMessage()), fault);
                    case NO_KEY, WRONG_KEY ->
                        new ReplayException(Code.MISSING, file() + " cannot be opened: " + fault.getMessage(), fault);
                    case ALTERED, CUT ->
                        new ReplayException(Code.ALTERED, fault.getMessage() + "; copy captures/" + run + MEND, fault);
                    case DISK_FULL -> new ReplayException(Code.ENGINE, String.valueOf(fault.getMessage()), fault);
                };
            case NoSuchFileException _ ->
                new ReplayException(Code.MISSING, file() + " is missing; copy captures/" + run + MEND, e);
            default -> new ReplayException(Code.ENGINE, file() + " cannot be read: " + e.getMessage(), e);
        };
    }
}
