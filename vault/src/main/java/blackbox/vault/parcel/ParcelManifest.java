package blackbox.vault.parcel;

import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a parcel begins with: whose run it is, and every part, in order.
public record ParcelManifest(RunId run, List<ParcelPart> parts) {

    /// The form's first line, with its version.
    public static final String FIRST = "blackbox/parcel/v1";

    /// The most parts.
    public static final int PARTS_MAX = 20_000;

    /// The longest manifest, in octets.
    static final int OCTETS_MAX = 8 << 20;

    private static final String FILE = "file ";
    private static final String PROGRAM = "program ";
    private static final String LINK = "link ";
    private static final String LEADS_TO = " -> ";

    public ParcelManifest {
        parts = List.copyOf(parts);
        if (parts.isEmpty() || parts.size() > PARTS_MAX) {
            throw new IllegalArgumentException("a parcel has 1 to " + PARTS_MAX + " parts, not " + parts.size());
        }
        var names = new HashSet<String>();
        var folders = new HashSet<String>();
        for (ParcelPart part : parts) {
            if (!names.add(part.name())) {
                throw new IllegalArgumentException("the part " + part.name() + " is in it twice");
            }
            for (int slash = part.name().indexOf('/');
                    slash > 0;
                    slash = part.name().indexOf('/', slash + 1)) {
                folders.add(part.name().substring(0, slash));
            }
        }
        names.retainAll(folders);
        if (!names.isEmpty()) {
            throw new IllegalArgumentException("a part is a file and a folder at once: " + names);
        }
    }

    /// All parts together, in octets.
    public long bytes() {
        return parts.stream().mapToLong(ParcelPart::bytes).sum();
    }

    /// As it is stored.
    byte[] octets() {
        var text = new StringBuilder("run ").append(run).append('\n');
        for (ParcelPart part : parts) {
            String link = part.link();
            if (link != null) {
                text.append(LINK).append(part.name()).append(LEADS_TO).append(link);
            } else {
                text.append(part.executable() ? PROGRAM : FILE)
                        .append(part.bytes())
                        .append(' ')
                        .append(part.name());
            }
            text.append('\n');
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /// Reads one; refuses whatever [#octets] would have written otherwise.
    ///
    /// @throws MalformedParcelException when it is none
    static ParcelManifest parse(byte[] octets) throws MalformedParcelException {
        try {
            String[] lines = new String(octets, StandardCharsets.US_ASCII).split("\n", -1);
            if (!lines[0].startsWith("run ") || lines.length > PARTS_MAX + 2) {
                throw new IllegalArgumentException("it names no run, or too many parts");
            }
            var parts = new ArrayList<ParcelPart>();
            for (int i = 1; i < lines.length - 1; i++) {
                parts.add(part(lines[i]));
            }
            var manifest = new ParcelManifest(new RunId(lines[0].substring(4)), parts);
            if (java.util.Arrays.equals(manifest.octets(), octets)) {
                return manifest;
            }
            throw new IllegalArgumentException("it is written otherwise than any writer does");
        } catch (IllegalArgumentException e) {
            throw new MalformedParcelException("has a manifest that cannot be used: " + e.getMessage(), e);
        }
    }

    private static ParcelPart part(String line) {
        if (line.startsWith(LINK)) {
            String[] words = line.substring(LINK.length()).split(LEADS_TO, 2);
            return new ParcelPart(words[0], 0, false, words.length < 2 ? "" : words[1]);
        }
        boolean program = line.startsWith(PROGRAM);
        if (!program && !line.startsWith(FILE)) {
            throw new IllegalArgumentException("a line of it names no part");
        }
        String[] words = line.substring((program ? PROGRAM : FILE).length()).split(" ", 2);
        @Nullable Long bytes = words[0].matches("0|[1-9][0-9]{0,12}") ? (Long) Long.parseLong(words[0]) : null;
        if (bytes == null || words.length < 2) {
            throw new IllegalArgumentException("a line of it names no part");
        }
        return new ParcelPart(words[1], bytes, program, null);
    }
}
