package blackbox.console;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/// The page that verifies an evidence bundle in a browser and shows it, without a network or a server: one HTML
/// file.
public final class EvidencePage {

    /// Its name in a bundle.
    public static final String NAME = "open.html";

    /// Octets of the largest bundle that a page can carry: browsers hold its base64 as one text, and that text
    /// has an end at about half a GiB.
    public static final long BUNDLE_BYTES_MAX = 256L << 20;

    private static final String PLACE = "<script type=\"application/zip\" id=\"bundle\">";

    private EvidencePage() {}

    /// The page without a bundle: it asks for one.
    public static byte[] blank() throws IOException {
        return resource(NAME);
    }

    static byte[] resource(String name) throws IOException {
        try (InputStream in = EvidencePage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new FileNotFoundException("this build lacks the page " + name);
            }
            return in.readAllBytes();
        }
    }

    /// Writes the page with a bundle in it, which it verifies as soon as it is opened.
    ///
    /// @param zip the bundle, of at most [#BUNDLE_BYTES_MAX] octets; read to its end
    /// @param out stays open
    public static void write(InputStream zip, OutputStream out) throws IOException {
        String page = new String(blank(), StandardCharsets.UTF_8);
        int at = page.indexOf(PLACE) + PLACE.length();
        if (at < PLACE.length()) {
            throw new IOException("the page " + NAME + " of this build has no place for a bundle");
        }
        out.write(page.substring(0, at).getBytes(StandardCharsets.UTF_8));
        OutputStream base64 = Base64.getEncoder().wrap(new LeftOpen(out));
        zip.transferTo(base64);
        base64.close(); // writes the last digits
        out.write(page.substring(at).getBytes(StandardCharsets.UTF_8));
    }

    /// Keeps the stream behind it open when it is closed.
    private static final class LeftOpen extends OutputStream {

        private final OutputStream out;

        LeftOpen(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int octet) throws IOException {
            out.write(octet);
        }

        @Override
        public void write(byte[] octets, int from, int length) throws IOException {
            out.write(octets, from, length);
        }
    }
}
