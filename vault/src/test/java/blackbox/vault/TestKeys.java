package blackbox.vault;

import blackbox.vault.VaultException.Code;
import org.jspecify.annotations.Nullable;

/// A data folder's key in memory.
final class TestKeys implements PayloadKey.Source {
    private @Nullable PayloadKey key;

    TestKeys(@Nullable PayloadKey key) {
        this.key = key;
    }

    @Override
    public PayloadKey existing() throws VaultException {
        if (key == null) {
            throw new VaultException(Code.NO_KEY, "none in this test");
        }
        return key;
    }

    @Override
    public PayloadKey existingOrNew() throws VaultException {
        return existing();
    }
}
