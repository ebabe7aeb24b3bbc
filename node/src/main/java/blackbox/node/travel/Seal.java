package blackbox.node.travel;

import blackbox.node.travel.TravelException.Code;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/// Checks the octets of a file that is read once against what the run sealed of it. Owned by one thread.
sealed interface Seal {

    /// Takes the next octets.
    ///
    /// @throws TravelException `ALTERED`
    void see(byte[] octets, int from, int count) throws TravelException;

    /// Requires that the file ends here.
    ///
    /// @throws TravelException `ALTERED`
    void end() throws TravelException;

    private static TravelException altered(String name, String what) {
        return new TravelException(
                Code.ALTERED,
                "the captured file " + name + " is not what the run sealed: " + what + ". Export it again");
    }

    /// Nothing is sealed octet by octet, or it is checked once all of it is there.
    record Later() implements Seal {
        @Override
        public void see(byte[] octets, int from, int count) {}

        @Override
        public void end() {}
    }

    /// Segments, sealed by events.
    final class Segments implements Seal {
        private final String name;
        private final Iterator<CaptureSegment> segments;
        private @Nullable CaptureSegment segment;
        private MessageDigest digest = Sha256.digest();
        private long left;

        Segments(SealedCapture capture) {
            this.name = capture.name();
            this.segments = capture.segments().iterator();
        }

        @Override
        public void see(byte[] octets, int from, int count) throws TravelException {
            for (int done = 0; done < count; ) {
                if (left == 0) {
                    next();
                }
                int part = (int) Math.min(left, count - done);
                digest.update(octets, from + done, part);
                left -= part;
                done += part;
                if (left == 0) {
                    compare();
                }
            }
        }

        private void next() throws TravelException {
            if (!segments.hasNext()) {
                throw altered(name, "it is longer");
            }
            CaptureSegment following = segments.next();
            segment = following;
            left = following.to() - following.from();
            digest = Sha256.digest();
        }

        private void compare() throws TravelException {
            CaptureSegment here = segment;
            if (here != null && !Hash.copyOf(digest.digest(), 0).equals(here.sha256())) {
                throw altered(
                        name,
                        "event " + here.index() + " has a different digest for its octets " + here.from() + " to "
                                + here.to());
            }
        }

        @Override
        public void end() throws TravelException {
            if (left > 0 || segments.hasNext()) {
                throw altered(name, "it is shorter");
            }
        }
    }

    /// The digest of the whole file, in the run's first event.
    final class Whole implements Seal {
        private final String name;
        private final Hash sealed;
        private final MessageDigest digest = Sha256.digest();

        Whole(String name, Hash sealed) {
            this.name = name;
            this.sealed = sealed;
        }

        @Override
        public void see(byte[] octets, int from, int count) {
            digest.update(octets, from, count);
        }

        @Override
        public void end() throws TravelException {
            if (!Hash.copyOf(digest.digest(), 0).equals(sealed)) {
                throw altered(name, "the run's first event has a different digest");
            }
        }
    }

    /// The seed of the guest's random generator: hex, of whose octets the first event has the digest.
    final class Entropy implements Seal {
        private final String name;
        private final @Nullable Hash sealed;
        private final ByteArrayOutputStream hex = new ByteArrayOutputStream();

        Entropy(String name, @Nullable Hash sealed) {
            this.name = name;
            this.sealed = sealed;
        }

        @Override
        public void see(byte[] octets, int from, int count) {
            hex.write(octets, from, count);
        }

        @Override
        public void end() throws TravelException {
            try {
                byte[] seed = HexFormat.of()
                        .parseHex(hex.toString(StandardCharsets.US_ASCII).strip());
                if (Hash.sha256(seed).equals(sealed)) {
                    return;
                }
            } catch (IllegalArgumentException _) {
                // Not hex, so not what was sealed either.
            }
            throw altered(name, "the run's first event has a different digest");
        }
    }
}
