package blackbox.evidence.trust;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Who must sign a run's next checkpoint. Immutable; each checkpoint that holds leads to the next state by [#after].
///
/// A run whose first leaf carries a certificate is sealed by epoch keys to its end: no state leads from
/// [Epoch] or [Nobody] to [Direct].
public sealed interface NextSigner {

    /// The run's first leaf was not read yet: no checkpoint is accepted.
    record Unknown() implements NextSigner {}

    /// The run's first leaf has no certificate: directly trusted keys sign every checkpoint, as before there
    /// were epoch keys.
    record Direct() implements NextSigner {}

    /// Only this key.
    record Epoch(EpochKey key) implements NextSigner {}

    /// The last epoch named no key, or the certificate is not valid: nothing that follows is accepted.
    record Nobody() implements NextSigner {}

    /// The state after a run's first leaf: with the valid certificate in it, or null if there is none at all.
    static NextSigner opened(@Nullable RunKeyCertificate certificate) {
        return certificate == null ? new Direct() : new Epoch(EpochKey.of(certificate.firstKey()));
    }

    /// Whether `note` is signed by the required key.
    ///
    /// @param trusted the keys that are trusted directly
    default boolean signed(SignedNote note, RunId run, Collection<? extends NoteVerifier> trusted) {
        return switch (this) {
            case Unknown _, Nobody _ -> false;
            case Direct _ -> note.signedBy(trusted) != null;
            case Epoch epoch -> note.signedBy(List.of(epoch.key().verifier(run))) != null;
        };
    }

    /// Who signs the checkpoint after the one that this one signed.
    ///
    /// @param detail the detail of the heartbeat under the checkpoint, or null
    /// @param closes whether the batch closes the run: then no key may be named
    /// @return null if the heartbeat names no key but must, or names one but must not
    default @Nullable NextSigner after(@Nullable Text detail, boolean closes) {
        return switch (this) {
            case Unknown _, Nobody _ -> null;
            case Direct _ -> detail == null ? this : null;
            case Epoch _ -> {
                if (closes || detail == null) {
                    yield closes && detail == null ? new Nobody() : null;
                }
                EpochKey named = EpochKey.ofDetail(detail);
                yield named == null ? null : new Epoch(named);
            }
        };
    }

    /// One word that [#parse] reads.
    default String text() {
        return switch (this) {
            case Unknown _ -> "unknown";
            case Direct _ -> "direct";
            case Nobody _ -> "nobody";
            case Epoch epoch -> epoch.key().base64();
        };
    }

    /// Reads what [#text] wrote.
    ///
    /// @throws IllegalArgumentException when it is not such a word
    static NextSigner parse(String text) {
        EpochKey key = EpochKey.ofBase64(text);
        if (key != null) {
            return new Epoch(key);
        }
        return switch (text) {
            case "unknown" -> new Unknown();
            case "direct" -> new Direct();
            case "nobody" -> new Nobody();
            default -> throw new IllegalArgumentException("not a signer: '" + text + "'");
        };
    }
}
