package blackbox.rules.event;

import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Which name led to an address last. What the host saw of an answer is not changed by what the guest says. Bounded:
/// what was answered longest ago is forgotten first. Owned by one thread.
public final class NameTable {

    private static final int ADDRESSES_MAX = 65_536;

    /// Of addresses and names, characters.
    private static final long TEXT_MAX = 8 << 20;

    private static final long EACH = 100;

    private final Weighed<String, Name> names;

    private record Name(String host, boolean byHost) {}

    public NameTable() {
        this(_ -> {});
    }

    /// @param forgotten is told of which address nothing is known any more
    public NameTable(Consumer<String> forgotten) {
        names = new Weighed<>(ADDRESSES_MAX, TEXT_MAX, forgotten);
    }

    /// Takes what was asked, and answered.
    public void see(NetView.Dns query) {
        Text host = query.name();
        if (host == null) {
            return;
        }
        for (Text answer : query.answers()) {
            String address = answer.toString();
            Name known = names.get(address);
            if (known == null || !known.byHost() || query.isByHost()) {
                var name = new Name(host.toString(), query.isByHost());
                names.put(address, name, EACH + address.length() + name.host().length());
            }
        }
    }

    public @Nullable String of(@Nullable String address) {
        Name known = address == null ? null : names.get(address);
        return known == null ? null : known.host();
    }
}
