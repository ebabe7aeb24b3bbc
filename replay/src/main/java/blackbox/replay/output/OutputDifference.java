package blackbox.replay.output;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss.Content;

/// Where what a replay printed on a stream first differs from the recording. Says nothing of what was printed but
/// digests: output may hold secrets.
///
/// @param octet the first one of the recording that differs, counted from 0
/// @param replayedOctet the same of the replay: another one where a time was printed in other octets before
/// @param expected all that is recorded of the stream
/// @param actual all that the replay printed on it
public record OutputDifference(PrintedStream stream, long octet, long replayedOctet, Content expected, Content actual) {
    public OutputDifference {
        if (octet < 0
                || replayedOctet < 0
                || octet > expected.bytes()
                || replayedOctet > actual.bytes()
                || octet == expected.bytes() && replayedOctet == actual.bytes()) {
            throw new IllegalArgumentException("streams of " + expected.bytes() + " and " + actual.bytes()
                    + " octets cannot first differ in octets " + octet + " and " + replayedOctet);
        }
    }

    /// One before which all is equal.
    public OutputDifference(PrintedStream stream, long octet, Content expected, Content actual) {
        this(stream, octet, octet, expected, actual);
    }

    /// How the replay's output differs.
    public enum How {
        /// It has another octet.
        OTHER,
        /// It ends there, and the recording goes on.
        SHORTER,
        /// It goes on there, and the recording ends.
        LONGER
    }

    public How how() {
        if (replayedOctet == actual.bytes()) {
            return How.SHORTER;
        }
        return octet == expected.bytes() ? How.LONGER : How.OTHER;
    }

    /// Where it is, for people.
    public String where() {
        return stream.inWords() + ", from byte " + octet + " on";
    }
}
