package blackbox.gateway.secret;

import blackbox.gateway.egress.HttpField;
import blackbox.gateway.secret.Search.Occurrence;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The secrets of one run. Used by one gateway's loop; closed when that has ended.
public final class Secrets implements AutoCloseable {
    private static final int NAME_MAX = 64;

    private final Map<String, GuestSecret> byId = new LinkedHashMap<>();
    private final Needles values;
    private final Needles surrogates;
    private final Predicate<String> told;

    /// Where a surrogate stands that is not exchanged.
    ///
    /// @param where for people
    public record Stray(GuestSecret secret, String where) {}

    private Secrets(List<GuestSecret> all, Predicate<String> told) {
        this.told = told;
        var ofValues = new ArrayList<Needle>();
        var ofSurrogates = new ArrayList<Needle>();
        for (GuestSecret secret : all) {
            if (byId.put(secret.id(), secret) != null) {
                throw new IllegalArgumentException("two secrets are called " + secret.id());
            }
            ofValues.addAll(Needle.of(secret.id(), secret.value().octets(), secret.surrogate()));
            byte[] surrogate = secret.surrogate().getBytes(StandardCharsets.US_ASCII);
            ofSurrogates.addAll(Needle.of(secret.id(), surrogate, secret.surrogate()));
        }
        this.values = new Needles(ofValues);
        this.surrogates = new Needles(ofSurrogates);
    }

    /// None.
    public static Secrets none() {
        return new Secrets(List.of(), host -> false);
    }

    /// These, whose values it clears when it is closed.
    ///
    /// @param told whether some rule lets a secret go to a host, a name or an address: whatever that says is
    ///     searched
    public static Secrets of(List<GuestSecret> all, Predicate<String> told) {
        return new Secrets(all, told);
    }

    public boolean isEmpty() {
        return byId.isEmpty();
    }

    /// The one with this id, or null.
    public @Nullable GuestSecret named(String id) {
        return byId.get(id);
    }

    /// Whether a host, a name or an address, may be told a secret.
    public boolean isTold(String host) {
        return told.test(host);
    }

    /// For one message that the guest is sent: it is to contain the value of none.
    public Scrubber scrubber() {
        return new Scrubber(values);
    }

    /// The first surrogate that stands in a head in any form, or null.
    public @Nullable Stray stray(String target, List<HttpField> fields) {
        GuestSecret found = in(target);
        if (found != null) {
            return new Stray(found, "the target");
        }
        for (HttpField field : fields) {
            GuestSecret here = in(field.name() + ": " + field.value());
            if (here != null) {
                String name = field.name().toLowerCase(Locale.ROOT);
                return new Stray(
                        here, "the field " + (name.length() > NAME_MAX ? name.substring(0, NAME_MAX) + "…" : name));
            }
        }
        return null;
    }

    private @Nullable GuestSecret in(String text) {
        byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
        Occurrence found = new Search(surrogates).next(octets, octets.length, true);
        return found == null ? null : byId.get(found.needle().secret());
    }

    /// Clears the values.
    @Override
    public void close() {
        values.clear();
        byId.values().forEach(secret -> secret.value().close());
    }
}
