package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.keys.StoreKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The properties of a new long-term key; add it as `@Mixin`.
public final class KeyOptions {

    @Option(
            names = "--store",
            paramLabel = "STORE",
            defaultValue = "file",
            description = "Where the key is stored: file, pkcs11 or tpm (default: ${DEFAULT-VALUE}).")
    private String store = "file";

    @Option(names = "--module", paramLabel = "FILE", description = "pkcs11: the token's PKCS#11 library.")
    @Nullable
    private Path module;

    @Option(names = "--slot", paramLabel = "N", description = "pkcs11: the number of the token's slot.")
    @Nullable
    private Long slot;

    @Option(
            names = "--tcti",
            paramLabel = "TCTI",
            description = "tpm: how to reach it, as a tpm2-tss TCTI string (default: device:/dev/tpmrm0).")
    @Nullable
    private String tcti;

    @Option(
            names = "--valid-days",
            paramLabel = "N",
            description = "Days until the key stops signing; rotate it before then (default: never).")
    @Nullable
    private Integer validDays;

    public LogKeys.NewKeyOptions options() {
        StoreKind kind = kind();
        var settings = new LinkedHashMap<String, String>();
        put(settings, "module", module, kind == StoreKind.PKCS11);
        put(settings, "slot", slot, kind == StoreKind.PKCS11);
        put(settings, "tcti", tcti, kind == StoreKind.TPM);
        if (kind == StoreKind.PKCS11 && settings.size() != 2) {
            throw CommandException.badInput(
                    "the store pkcs11 needs the token's library and slot: --module FILE --slot N");
        }
        if (validDays != null && validDays < 1) {
            throw CommandException.badInput("--valid-days must be at least 1, not " + validDays);
        }
        return new LogKeys.NewKeyOptions(kind, settings, validDays == null ? null : Duration.ofDays(validDays));
    }

    private StoreKind kind() {
        try {
            return StoreKind.of(store);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }

    private void put(LinkedHashMap<String, String> settings, String name, @Nullable Object value, boolean fits) {
        if (value != null && !fits) {
            throw CommandException.badInput("--" + name + " does not apply to a key in the store " + store);
        }
        if (value != null) {
            settings.put(
                    name, value instanceof Path path ? path.toAbsolutePath().toString() : value.toString());
        }
    }
}
