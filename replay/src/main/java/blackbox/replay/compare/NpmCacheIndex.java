package blackbox.replay.compare;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import blackbox.replay.git.GitDigest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Compares what npm's cache (`cacache`) keeps of an entry: lines of a SHA-1 digest, a tab, and JSON of that digest,
/// which says when the answer came and when this was written, so that the digest is another one each time. The answer
/// may have come any time since the writer began, provided that npm wrote both files: every line that is not empty has
/// its right digest.
///
/// A digest may stand for the other one if both are those of their lines; what the lines say is compared as anywhere.
final class NpmCacheIndex {
    private static final Pattern PATH =
            Pattern.compile(".*/_cacache/index-v5/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]+", Pattern.DOTALL);
    private static final Pattern LINE = Pattern.compile("([0-9a-f]{40})\t(.*)", Pattern.DOTALL);
    private static final int BYTES_MAX = 1 << 20;

    private NpmCacheIndex() {}

    /// Whether a path is one of such a file.
    static boolean is(String path) {
        return PATH.matcher(path).matches();
    }

    /// Compares two such files; one of more than 1 MiB as any other file.
    static ContentMatch compare(InputStream recorded, InputStream actual, Origins origins) throws IOException {
        byte[] one = recorded.readNBytes(BYTES_MAX);
        byte[] other = actual.readNBytes(BYTES_MAX);
        boolean whole = one.length < BYTES_MAX && other.length < BYTES_MAX;
        boolean isNpms = whole && isNpms(one) && isNpms(other);
        return ContentMatch.of(
                rejoined(one, recorded),
                rejoined(whole ? withDigestsOf(one, other) : other, actual),
                isNpms
                        ? new Origins(sinceBegin(origins.recorded()), sinceBegin(origins.actual()), origins.values())
                        : origins);
    }

    private static boolean isNpms(byte[] file) {
        return Stream.of(text(file).split("\n", -1)).allMatch(line -> line.isEmpty() || isOfItsDigest(line));
    }

    private static WrittenWhen sinceBegin(WrittenWhen written) {
        long since = written.sinceNs();
        return octet -> {
            Window window = written.at(octet);
            return since < window.fromNs() ? new Window(since, window.toNs()) : window;
        };
    }

    /// The other file, with the recorded digests where both are right.
    private static byte[] withDigestsOf(byte[] recorded, byte[] actual) {
        String[] one = text(recorded).split("\n", -1);
        String[] other = text(actual).split("\n", -1);
        for (int i = 0; i < Math.min(one.length, other.length); i++) {
            if (isOfItsDigest(one[i]) && isOfItsDigest(other[i])) {
                other[i] = one[i].substring(0, 40) + other[i].substring(40);
            }
        }
        return String.join("\n", other).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static boolean isOfItsDigest(String line) {
        var parts = LINE.matcher(line);
        if (!parts.matches()) {
            return false;
        }
        byte[] said = parts.group(2).getBytes(StandardCharsets.ISO_8859_1);
        return HexFormat.of().formatHex(GitDigest.sha1(said, said.length)).equals(parts.group(1));
    }

    private static String text(byte[] octets) {
        return new String(octets, StandardCharsets.ISO_8859_1);
    }

    private static InputStream rejoined(byte[] first, InputStream rest) {
        return new SequenceInputStream(new ByteArrayInputStream(first), rest);
    }
}
