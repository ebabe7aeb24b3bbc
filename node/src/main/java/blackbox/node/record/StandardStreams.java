package blackbox.node.record;

import java.io.InputStream;
import java.io.OutputStream;

/// What the agent reads and where it writes to.
///
/// @param in read until its end
/// @param out receives what the agent prints, octet for octet
/// @param error receives what it prints to standard error
public record StandardStreams(InputStream in, OutputStream out, OutputStream error) {

    /// Those of this program.
    public static StandardStreams own() {
        return new StandardStreams(System.in, System.out, System.err);
    }

    /// For an agent that has nothing to read and whose output is not part of this program's answer.
    public static StandardStreams asides() {
        return new StandardStreams(InputStream.nullInputStream(), System.err, System.err);
    }
}
