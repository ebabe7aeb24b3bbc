package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.Identities;
import blackbox.cli.options.KeyOptions;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.node.data.LocalTrust;
import blackbox.node.keys.KeyRotation;
import blackbox.node.keys.Revocation;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeyConf;
import blackbox.recorder.keys.LogKeys;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `blackbox keys`: the key that signs the log of runs, and the statements about it.
@Command(
        name = "keys",
        description = "Show, create, rotate and revoke signing keys.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox keys show",
            "  BLACKBOX_PASSPHRASE_FILE=pass blackbox keys create           an encrypted key file",
            "  BLACKBOX_PIN_FILE=pin blackbox keys create --store pkcs11 --module /usr/lib/softhsm/libsofthsm2.so"
                    + " --slot 12",
            "  blackbox keys create --store tpm",
            "  blackbox keys rotate --valid-days 365",
            "  blackbox keys revoke ~/.local/share/blackbox/keys/ingest.pub",
            "  blackbox keys identity --out me.identity > me.pub            to be sent runs that only you can open",
            "",
            "The passphrase or PIN is read from the file that BLACKBOX_PASSPHRASE_FILE or BLACKBOX_PIN_FILE names",
            "(/dev/fd/N when another program passes it), or from the terminal."
        })
final class KeysCommand {

    private static final int BRIEF_MAX = 140;

    @Command(
            name = "show",
            description =
                    "Show which keys sign here, where they are stored and when they expire. Opens no private key.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox keys show --json")
    int show(@Mixin CommonOptions common) throws RecorderException, IOException {
        DataFolder data = common.dataFolder();
        ObjectNode node = describe(data, LogKeys.conf(data.keys()));
        if (common.json()) {
            System.out.println(node);
        } else {
            print(node);
        }
        return ExitCodes.OK;
    }

    @Command(
            name = "create",
            description = "Create the long-term key, before the first recording does so.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox keys create --store tpm --valid-days 730")
    int create(@Mixin CommonOptions common, @Mixin KeyOptions options) throws RecorderException, IOException {
        DataFolder data = common.ownDataFolder();
        if (LogKeys.conf(data.keys()) != null) {
            throw CommandException.badInput(
                    "there already is a key in " + data.keys() + "; to replace it: blackbox keys rotate");
        }
        try (LogKey key = LogKeys.create(data.keys(), options.options(), KeyAccess.system())) {
            return tell(common, data, key.conf());
        }
    }

    @Command(
            name = "rotate",
            description = "Replace the long-term key with a new one; the log of runs states this, signed by both keys.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox keys rotate --store pkcs11 --module /usr/lib/softhsm/libsofthsm2.so --slot 12")
    int rotate(@Mixin CommonOptions common, @Mixin KeyOptions options) throws RecorderException, IOException {
        DataFolder data = common.ownDataFolder();
        if (LogKeys.conf(data.keys()) == null) {
            throw CommandException.badInput("there is no key in " + data.keys() + " yet: blackbox keys create");
        }
        if (LogKeys.isRotating(data.keys())) {
            System.err.println("blackbox: resuming a rotation that was interrupted, with the key that it had created");
        }
        return tell(common, data, new KeyRotation(data, KeyAccess.system()).rotate(options.options()));
    }

    @Command(
            name = "revoke",
            description =
                    "State in the log of runs that a key is not to be trusted from now on: an ingest key, whose data"
                            + " files are then verified and sealed with a new one, or a log key that has been replaced."
                            + " After a revocation that was interrupted, completes that one and no other: exit 1 if FILE"
                            + " names another key.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox keys revoke ~/.local/share/blackbox/keys/ingest.pub")
    int revoke(
            @Mixin CommonOptions common,
            @Parameters(paramLabel = "FILE", description = "The public key, a verifier key (`name+id+base64`).")
                    Path file)
            throws RecorderException, IOException {
        DataFolder data = common.ownDataFolder();
        if (LogKeys.conf(data.keys()) == null) {
            throw CommandException.badInput("there is no key in " + data.keys() + " to sign the revocation with");
        }
        NoteVerifier key = read(file);
        NoteVerifier begun = new KeyRotation(data, KeyAccess.system()).begun();
        if (begun != null && !begun.equals(key)) {
            System.err.println(
                    "blackbox: completing the revocation of " + begun.encoded() + " first, which was interrupted");
        }
        Revocation done = revoke(data, key);
        boolean another = !done.key().equals(key);
        if (common.json()) {
            ObjectNode node = JsonNodeFactory.instance
                    .objectNode()
                    .put("revoked", done.key().encoded());
            node.put("notRevoked", another ? key.encoded() : null);
            node.put("role", done.role().name().toLowerCase(Locale.ROOT)).put("resealed", done.resealed());
            ArrayNode refused = node.putArray("refused");
            done.refused().forEach(run -> refused.add(run.value()));
            System.out.println(node);
        } else {
            System.out.println("revoked " + done.key().encoded());
            printOutcome(done);
        }
        if (another) {
            System.err.println("blackbox: the key in " + file + " is another one and was NOT revoked: " + key.encoded()
                    + ". It stays if it has replaced the revoked one; otherwise run this once more");
        }
        return done.refused().isEmpty() && !another ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    @Command(
            name = "identity",
            description = {
                "Create an identity: a secret key in a file of its owner's, and the public key that goes with it, which is",
                "printed. `export --format replay --to KEY` encrypts runs to that key, and `import --identity FILE` opens them.",
                "It has the form of age's keys; it signs nothing, and no data folder needs it."
            },
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox keys identity --out me.identity > me.pub")
    int identity(
            @Mixin CommonOptions common,
            @Option(
                            names = "--out",
                            paramLabel = "FILE",
                            required = true,
                            description = "The file to write the secret key to; it must not exist.")
                    Path file)
            throws IOException {
        String recipient = Identities.create(file);
        if (common.json()) {
            System.out.println(JsonNodeFactory.instance
                    .objectNode()
                    .put("identity", file.toString())
                    .put("key", recipient));
        } else {
            System.out.println(recipient);
        }
        return ExitCodes.OK;
    }

    private static Revocation revoke(DataFolder data, NoteVerifier key) throws RecorderException, IOException {
        try {
            return new KeyRotation(data, KeyAccess.system()).revoke(key);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }

    private static void printOutcome(Revocation done) {
        if (done.resealed() > 0) {
            System.out.println("verified and sealed again: " + done.resealed() + " data files");
        }
        done.refused()
                .forEach(run -> System.out.println("not sealed again: run " + run
                        + " does not verify, so no answer uses its files; to see why: blackbox verify " + run));
    }

    private static NoteVerifier read(Path file) {
        try {
            return NoteVerifiers.parse(Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
            throw CommandException.badInput("there is no public key in " + file + ": " + e.getMessage());
        }
    }

    private static int tell(CommonOptions common, DataFolder data, LogKeyConf conf) throws IOException {
        if (common.json()) {
            System.out.println(describe(data, conf));
        } else {
            System.out.println(conf.keys().getFirst());
        }
        return ExitCodes.OK;
    }

    private static ObjectNode describe(DataFolder data, @Nullable LogKeyConf conf) throws IOException {
        CryptoProvider provider = CryptoProvider.current();
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("fips", provider.isFips()).put("provider", provider.description());
        ArrayNode leftOut = JsonNodeFactory.instance.arrayNode();
        if (!provider.hasMlDsa()) {
            leftOut.add("ML-DSA signature lines: they are neither made nor checked");
        }
        ObjectNode log = conf == null ? null : describe(conf);
        node.set("log", log);
        if (log != null) {
            log.put("rotating", LogKeys.isRotating(data.keys()));
        }
        node.set("leftOut", leftOut);
        ArrayNode trusted = node.putArray("trusted");
        for (Path file : new LocalTrust(data).publicKeyFiles()) {
            trusted.addObject()
                    .put("file", file.toString())
                    .put("key", Files.readString(file).strip());
        }
        return node;
    }

    private static ObjectNode describe(LogKeyConf conf) {
        ObjectNode log = JsonNodeFactory.instance.objectNode();
        Instant until = conf.validUntil();
        log.put("origin", conf.origin()).put("store", conf.store().word());
        log.put("validFrom", conf.validFrom().toString()).put("validUntil", until == null ? null : until.toString());
        log.put("valid", until == null || Instant.now().isBefore(until));
        ObjectNode settings = log.putObject("settings");
        conf.settings().forEach(settings::put);
        ArrayNode keys = log.putArray("keys");
        conf.keys()
                .forEach(key -> keys.addObject()
                        .put("algorithm", NoteVerifiers.algorithm(key))
                        .put("key", key));
        return log;
    }

    /// An ML-DSA key has 1,800 characters; the first ones are enough to identify it.
    private static String brief(String key) {
        return key.length() <= BRIEF_MAX ? key : key.substring(0, BRIEF_MAX) + "… (--json shows all of it)";
    }

    private static void print(ObjectNode node) {
        if (node.get("log") instanceof ObjectNode log) {
            String until = log.get("validUntil").isNull()
                    ? "with no end"
                    : "until " + log.get("validUntil").asText();
            System.out.println("log of runs  " + log.get("origin").asText());
            System.out.println("  stored in  " + log.get("store").asText() + " " + log.get("settings"));
            System.out.println("  valid      from " + log.get("validFrom").asText() + " " + until
                    + (log.get("valid").asBoolean() ? "" : ": EXPIRED"));
            log.get("keys")
                    .forEach(key ->
                            System.out.println("  " + key.get("algorithm").asText() + "  "
                                    + brief(key.get("key").asText())));
            if (log.get("rotating").asBoolean()) {
                System.out.println("  a rotation was begun and not finished; to finish it: blackbox keys rotate");
            }
        } else {
            System.out.println(
                    "log of runs  no key yet; the first recording creates one, or do it now: blackbox keys create");
        }
        node.get("trusted")
                .forEach(key ->
                        System.out.println("trusted      " + key.get("file").asText()));
        System.out.println("algorithms   " + node.get("provider").asText()
                + (node.get("fips").asBoolean() ? ", FIPS mode" : ""));
        node.get("leftOut").forEach(each -> System.out.println("left out     " + each.asText()));
    }
}
