package blackbox.node.record;

import java.io.InputStream;
import java.io.OutputStream;

/// What the agent reads and where it writes to.
///
/// @param in read until its end
/// @param out gets what the agent prints, octet for octet
/// @param error the same for its standard error
public record StandardStreams(InputStream in, OutputStream out, OutputStream error) {

    /// This program's own.
    public static StandardStreams own() {
        return new StandardStreams(System.in, System.out, System.err);
    }

    /// For an agent that has nothing to read, and whose words are not this program's answer.
    public static StandardStreams asides() {
        return new StandardStreams(InputStream.nullInputStream(), System.err, System.err);
    }
}
