package blackbox.evidence.trust;

import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// The public key of a run's next epoch, named by the heartbeat before it: Ed25519, 32 octets.
public final class EpochKey {

    private static final String START = "{\"nextKey\":\"";
    private static final String END = "\"}";

    private final byte[] octets;

    private EpochKey(byte[] octets) {
        this.octets = octets;
    }

    /// The key in a verifier key, whatever its name.
    public static EpochKey of(Ed25519Verifier verifier) {
        return new EpochKey(verifier.publicKey());
    }

    /// Reads standard base64 of a public key's 32 octets; null where the text is not that.
    public static @Nullable EpochKey ofBase64(String text) {
        try {
            byte[] octets = Base64.getDecoder().decode(text);
            var key = new EpochKey(Ed25519Verifier.of("key", octets).publicKey());
            return key.base64().equals(text) ? key : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// Reads a heartbeat's detail; null where it is not exactly what [#detail] writes.
    public static @Nullable EpochKey ofDetail(String detail) {
        boolean framed =
                detail.startsWith(START) && detail.endsWith(END) && detail.length() >= START.length() + END.length();
        return framed ? ofBase64(detail.substring(START.length(), detail.length() - END.length())) : null;
    }

    /// The same for a column's octets.
    public static @Nullable EpochKey ofDetail(Text detail) {
        return detail.isUtf8() ? ofDetail(detail.toString()) : null;
    }

    public String base64() {
        return Base64.getEncoder().encodeToString(octets);
    }

    /// The heartbeat's detail that names this key.
    public String detail() {
        return START + base64() + END;
    }

    /// The key as a verifier of checkpoints of `run`.
    public Ed25519Verifier verifier(RunId run) {
        return Ed25519Verifier.of(run.origin(), octets);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof EpochKey key && Arrays.equals(octets, key.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return base64();
    }
}
