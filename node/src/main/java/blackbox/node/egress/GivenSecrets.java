package blackbox.node.egress;

import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.SecretValue;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.secret.Surrogates;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Secret;
import blackbox.policy.SecretSource;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The secrets of one run: values, which only the gateway has, and what stands for them in variables of the agent's
/// environment.
public final class GivenSecrets implements AutoCloseable {
    private static final int SECRETS_MAX = 32;

    /// All of them are in the run's first event, which has room for a few thousand octets.
    private static final int NAME_MAX = 128;

    private final Secrets secrets;
    private final Map<String, String> surrogates;

    /// What whoever records says beside the policy.
    ///
    /// @param sources of secrets for which the policy names none, by id
    /// @param variables the ids by the names of the variables in which the agent finds them; a secret that is not
    ///     among them and comes from a variable is in one of that name
    public record Named(Map<String, SecretSource> sources, Map<String, String> variables) {
        public static final Named NOTHING = new Named(Map.of(), Map.of());

        public Named {
            sources = Map.copyOf(sources);
            variables = Collections.unmodifiableMap(new TreeMap<>(variables));
        }
    }

    private GivenSecrets(Secrets secrets, Map<String, String> surrogates) {
        this.secrets = secrets;
        this.surrogates = Collections.unmodifiableMap(new TreeMap<>(surrogates));
    }

    /// Those of a run without any.
    public static GivenSecrets none() {
        return new GivenSecrets(Secrets.none(), Map.of());
    }

    /// Reads the values that a policy's rules need, and makes what stands for them.
    ///
    /// @param environment a variable's value by its name, a copy that is cleared; null if it is not set
    /// @throws IOException with a sentence, if one cannot be had or is none; nothing of a value is in it
    public static GivenSecrets read(
            Policy policy, Named named, Function<String, byte @Nullable []> environment, SecureRandom random)
            throws IOException, InterruptedException {
        Map<String, Secret> all = all(policy);
        Map<String, SecretSource> sources = sources(all, named);
        Map<String, String> variables = variables(all, sources, named);
        var reading = new SecretReading(environment);
        var read = new ArrayList<GuestSecret>();
        try {
            for (Secret secret : all.values()) {
                read.add(secret(policy, secret, sources, reading, random));
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            read.forEach(secret -> secret.value().close());
            throw e;
        }
        var secrets = Secrets.of(read, host -> GatewayPolicy.tells(policy, host));
        var surrogates = new TreeMap<String, String>();
        variables.forEach((variable, id) -> surrogates.put(
                variable, Objects.requireNonNull(secrets.named(id)).surrogate()));
        return new GivenSecrets(secrets, surrogates);
    }

    private static GuestSecret secret(
            Policy policy, Secret secret, Map<String, SecretSource> sources, SecretReading reading, SecureRandom random)
            throws IOException, InterruptedException {
        String id = secret.id();
        List<String> rules = policy.rules().stream()
                .filter(rule -> id.equals(rule.secret()))
                .map(Rule::id)
                .toList();
        SecretPlace place = SecretPlace.parse(secret.place());
        SecretValue value;
        try {
            value = reading.read(Objects.requireNonNull(sources.get(id)));
        } catch (IOException e) {
            throw new IOException("secret " + id + ": " + e.getMessage(), e);
        }
        return new GuestSecret(id, Surrogates.of(value, random), place, rules, value);
    }

    /// Those that rules name, declared or not.
    private static Map<String, Secret> all(Policy policy) throws IOException {
        var all = new LinkedHashMap<String, Secret>();
        policy.secrets().forEach(secret -> all.put(secret.id(), secret));
        for (Rule rule : policy.rules()) {
            String id = rule.secret();
            if (id != null) {
                all.putIfAbsent(id, new Secret(id, null, null));
            }
        }
        if (all.size() > SECRETS_MAX) {
            throw new IOException("the policy has " + all.size() + " secrets; a run can have " + SECRETS_MAX);
        }
        return all;
    }

    private static Map<String, SecretSource> sources(Map<String, Secret> all, Named named) throws IOException {
        for (String id : named.sources().keySet()) {
            Secret secret = all.get(id);
            if (secret == null) {
                throw new IOException("--secret " + id + ": no rule of the policy has a secret of this name");
            }
            if (secret.source() != null) {
                throw new IOException("--secret " + id + ": the policy says already where this secret is");
            }
        }
        var sources = new TreeMap<String, SecretSource>();
        for (Secret secret : all.values()) {
            SecretSource source = secret.source() == null ? named.sources().get(secret.id()) : secret.source();
            if (source == null) {
                throw new IOException("the policy does not say where the secret " + secret.id() + " is: add --secret "
                        + secret.id() + "=file:PATH, =env:NAME or =command:WORDS");
            }
            sources.put(secret.id(), source);
        }
        return sources;
    }

    private static Map<String, String> variables(
            Map<String, Secret> all, Map<String, SecretSource> sources, Named named) throws IOException {
        var variables = new TreeMap<>(named.variables());
        for (Map.Entry<String, String> each : variables.entrySet()) {
            if (!all.containsKey(each.getValue())) {
                throw new IOException("--secret-env " + each.getKey() + "=" + each.getValue()
                        + ": no rule of the policy has a secret of this name");
            }
        }
        if (variables.size() > SECRETS_MAX || variables.keySet().stream().anyMatch(name -> name.length() > NAME_MAX)) {
            throw new IOException("the command can have " + SECRETS_MAX
                    + " variables with secrets, with names of up to " + NAME_MAX + " characters");
        }
        var given = new HashSet<>(variables.values());
        for (Map.Entry<String, SecretSource> each : sources.entrySet()) {
            String id = each.getKey();
            if (given.contains(id)) {
                continue;
            }
            if (!(each.getValue() instanceof SecretSource.Variable variable)) {
                throw new IOException(
                        "say in which variable the command finds the secret " + id + ": add --secret-env NAME=" + id);
            }
            String before = variables.put(variable.name(), id);
            if (before != null) {
                throw new IOException("the variable " + variable.name() + " is to have both the secret " + before
                        + " and " + id + ": give one of them another with --secret-env NAME=ID");
            }
        }
        return variables;
    }

    /// What the gateway is given.
    Secrets secrets() {
        return secrets;
    }

    /// What stands for the secrets, by the names of the variables in which the agent finds it.
    public Map<String, String> surrogates() {
        return surrogates;
    }

    /// Clears the values.
    @Override
    public void close() {
        secrets.close();
    }
}
