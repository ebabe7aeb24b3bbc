package blackbox.ingest.check;

import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.trust.NextSigner;
import blackbox.schemas.Hash;
import java.util.Arrays;
import java.util.Base64;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// How far one open run has been ingested: everything needed to check its next batch. Immutable; committed
/// with the rows.
///
/// @param nextIndex index of the next leaf
/// @param nextSequence number of the next batch
/// @param previous hash of the last batch
/// @param frontier edge of the run's tree, as [MerkleFrontier#toBytes] gives it
/// @param signer who must sign the next checkpoint
/// @param stoppedBy why nothing more of this run is ingested, or null
public record ChainState(
        long nextIndex,
        long nextSequence,
        Hash previous,
        Frontier frontier,
        NextSigner signer,
        @Nullable Reason stoppedBy) {

    /// A run about which nothing is known.
    public static final ChainState NEW =
            new ChainState(0, 0, Hash.ZERO, new Frontier(new byte[0]), new NextSigner.Unknown(), null);

    /// The last field came with version 2 of the state; before it, directly trusted keys signed every run.
    private static final Pattern FORM = Pattern.compile(
            "(open|[A-Z_]+) ([0-9]{1,19}) ([0-9]{1,19}) ([0-9a-f]{64}) ([A-Za-z0-9+/=]*)(?: ([A-Za-z0-9+/=]+))?");

    /// The octets of a tree's edge.
    public record Frontier(byte[] octets) {

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Frontier frontier && Arrays.equals(octets, frontier.octets);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(octets);
        }
    }

    public ChainState {
        Objects.requireNonNull(previous);
        if (nextIndex < 0 || nextSequence < 0 || frontier.octets().length != Long.bitCount(nextIndex) * Hash.LENGTH) {
            throw new IllegalArgumentException(
                    "not a run's state: " + nextIndex + " leaves, " + nextSequence + " batches");
        }
    }

    /// The state as one line of text, which [#parse] reads.
    public String text() {
        String status = stoppedBy == null ? "open" : stoppedBy.name();
        String edge = Base64.getEncoder().encodeToString(frontier.octets());
        return status + " " + nextIndex + " " + nextSequence + " " + previous + " " + edge + " " + signer.text();
    }

    /// Reads what [#text] wrote, in this version or the one before.
    ///
    /// @throws IllegalArgumentException when it is not such a line
    public static ChainState parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not a run's state: '" + text + "'");
        }
        return new ChainState(
                Long.parseLong(matcher.group(2)),
                Long.parseLong(matcher.group(3)),
                Hash.ofHex(matcher.group(4)),
                new Frontier(Base64.getDecoder().decode(matcher.group(5))),
                matcher.group(6) == null ? new NextSigner.Direct() : NextSigner.parse(matcher.group(6)),
                matcher.group(1).equals("open") ? null : Reason.valueOf(matcher.group(1)));
    }

    /// The same, stopped for `reason`.
    public ChainState stopped(Reason reason) {
        return new ChainState(nextIndex, nextSequence, previous, frontier, signer, reason);
    }

    /// The same, with `next` to sign what follows.
    public ChainState signedBy(NextSigner next) {
        return new ChainState(nextIndex, nextSequence, previous, frontier, next, stoppedBy);
    }

    MerkleFrontier tree() {
        return MerkleFrontier.of(nextIndex, frontier.octets());
    }
}
