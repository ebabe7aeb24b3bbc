package blackbox.cli.options;

import blackbox.cli.argv.GivenEnvironment;
import blackbox.cli.exit.CommandException;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.node.egress.GivenSecrets;
import blackbox.policy.Policy;
import blackbox.policy.SecretSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The secrets that go with requests of the agent's, of which it has surrogates; add it as `@Mixin`. What is given here
/// says where they are; a value is never an argument.
public final class SecretOptions {
    private static final String VARIABLE = "[A-Za-z_][A-Za-z0-9_]*";

    @Option(
            names = "--secret",
            paramLabel = "ID=SOURCE",
            description = "Where a secret of --policy is: file:PATH (readable by its owner alone), env:NAME (of this"
                    + " process), or command:WORDS (what it prints; words are divided by spaces, no shell). The gateway puts it into"
                    + " the requests that the policy says; the command gets a surrogate.")
    private List<String> sources = new ArrayList<>();

    @Option(
            names = "--secret-env",
            paramLabel = "NAME=ID",
            description =
                    "The variable in which the command finds a secret's surrogate (default: of a secret from env:NAME,"
                            + " that name).")
    private List<String> variables = new ArrayList<>();

    /// Whether there are any.
    public boolean areGiven() {
        return !sources.isEmpty() || !variables.isEmpty();
    }

    /// Reads the values of the secrets of a policy.
    ///
    /// @throws CommandException when one cannot be had
    public GivenSecrets read(Policy policy) {
        try {
            return GivenSecrets.read(
                    policy,
                    named(),
                    SecretOptions::ownVariable,
                    CryptoProvider.current().random());
        } catch (IOException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandException.failed("it was interrupted while it read the secrets", e);
        }
    }

    private GivenSecrets.Named named() {
        var bySource = new LinkedHashMap<String, SecretSource>();
        for (String each : sources) {
            String[] parts = parts(each, "--secret takes ID=file:PATH, ID=env:NAME or ID=command:WORDS");
            if (bySource.put(parts[0], source(parts[0], parts[1])) != null) {
                throw CommandException.badInput("--secret " + parts[0] + " is given twice");
            }
        }
        var byVariable = new LinkedHashMap<String, String>();
        for (String each : variables) {
            String[] parts = parts(each, "--secret-env takes NAME=ID");
            if (!parts[0].matches(VARIABLE)) {
                throw CommandException.badInput("--secret-env takes the name of a variable, and an id of the policy's");
            }
            if (byVariable.put(parts[0], parts[1]) != null) {
                throw CommandException.badInput("--secret-env " + parts[0] + " is given twice");
            }
        }
        return new GivenSecrets.Named(bySource, byVariable);
    }

    private static String[] parts(String text, String otherwise) {
        int equals = text.indexOf('=');
        if (equals < 1 || equals == text.length() - 1) {
            throw CommandException.badInput(otherwise);
        }
        return new String[] {text.substring(0, equals), text.substring(equals + 1)};
    }

    /// What is no source is not repeated: it may be the value.
    private static SecretSource source(String id, String text) {
        int colon = text.indexOf(':');
        String kind = colon < 0 ? "" : text.substring(0, colon);
        String rest = text.substring(colon + 1);
        SecretSource source = switch (kind) {
            case "file" -> rest.isEmpty() ? null : new SecretSource.File(rest);
            case "env" -> rest.matches(VARIABLE) ? new SecretSource.Variable(rest) : null;
            case "command" -> rest.isBlank() ? null : new SecretSource.Command(words(rest));
            default -> null;
        };
        if (source == null) {
            throw CommandException.badInput("--secret " + id + " takes file:PATH, env:NAME or command:WORDS; a value is"
                    + " never an argument, where others could read it");
        }
        return source;
    }

    private static List<String> words(String text) {
        return Arrays.stream(text.strip().split(" +", -1)).toList();
    }

    /// A variable of this process, as the kernel has it.
    private static byte @Nullable [] ownVariable(String name) {
        byte[] all;
        try {
            all = GivenEnvironment.octets();
        } catch (IOException e) {
            throw CommandException.failed("the environment of this process cannot be read", e);
        }
        try {
            return value(all, (name + "=").getBytes(StandardCharsets.US_ASCII));
        } finally {
            Arrays.fill(all, (byte) 0);
        }
    }

    private static byte @Nullable [] value(byte[] all, byte[] wanted) {
        int from = 0;
        for (int at = 0; at < all.length; at++) {
            if (all[at] != 0) {
                continue;
            }
            int end = from + wanted.length;
            if (end <= at && Arrays.equals(all, from, end, wanted, 0, wanted.length)) {
                return Arrays.copyOfRange(all, end, at);
            }
            from = at + 1;
        }
        return null;
    }
}
