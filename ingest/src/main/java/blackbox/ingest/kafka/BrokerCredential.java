package blackbox.ingest.kafka;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.internals.BrokerSecurityConfigs;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.ScramCredentialCallback;
import org.apache.kafka.common.security.scram.ScramLoginModule;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.config.ServerConfigs;

/// The name and password that one start of an embedded broker, and its controller, ask of whoever connects. In
/// memory only, unless whoever starts the broker writes [#clientSettings] down for others.
///
/// SCRAM (RFC 5802), because it works both ways: a client does not send the password, and finds out whether the
/// broker knows it. A process that listens at the port of a broker that has ended thus gets no batch, and cannot
/// acknowledge any.
///
/// Kafka would keep what it checks passwords against in its metadata log, which outlives the start and is not there
/// yet when its controller asks; here it comes with the listener's settings.
public final class BrokerCredential {

    private static final ScramMechanism MECHANISM = ScramMechanism.SCRAM_SHA_256;
    private static final String USER = "blackbox";

    /// More than anybody can guess, so the fewest iterations that Kafka accepts lose nothing.
    private static final int PASSWORD_BYTES = 32;

    /// The longest message from somebody who is not let in yet; SCRAM's have a few hundred octets.
    private static final int STRANGERS_BYTES_MAX = 16 << 10;

    private static final String SALT = "salt";
    private static final String STORED_KEY = "storedKey";
    private static final String SERVER_KEY = "serverKey";

    private final String password;
    private final ScramCredential known;

    private BrokerCredential(String password, ScramCredential known) {
        this.password = password;
        this.known = known;
    }

    /// A new one.
    public static BrokerCredential fresh(SecureRandom random) {
        var secret = new byte[PASSWORD_BYTES];
        random.nextBytes(secret);
        String password = Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
        try {
            return new BrokerCredential(
                    password, new ScramFormatter(MECHANISM).generateCredential(password, MECHANISM.minIterations()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("the JVM cannot compute " + MECHANISM.mechanismName(), e);
        }
    }

    /// What a client's settings must have, beside the broker's address, to be let in. They contain the password.
    public Properties clientSettings() {
        var settings = new Properties();
        settings.setProperty(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG, SecurityProtocol.SASL_PLAINTEXT.name);
        settings.setProperty(SaslConfigs.SASL_MECHANISM, MECHANISM.mechanismName());
        settings.setProperty(SaslConfigs.SASL_JAAS_CONFIG, login(Map.of()));
        return settings;
    }

    /// What the broker's settings must have so that these listeners let in nobody else, and nobody else may do
    /// anything.
    Map<String, Object> brokerSettings(List<String> listeners) {
        var settings = new HashMap<String, Object>();
        String mechanism = MECHANISM.mechanismName();
        String asked = login(Map.of(
                SALT, text(known.salt()),
                STORED_KEY, text(known.storedKey()),
                SERVER_KEY, text(known.serverKey())));
        for (String listener : listeners) {
            String prefix = "listener.name." + listener.toLowerCase(Locale.ROOT) + "."
                    + mechanism.toLowerCase(Locale.ROOT) + ".";
            settings.put(prefix + SaslConfigs.SASL_JAAS_CONFIG, asked);
            settings.put(
                    prefix + BrokerSecurityConfigs.SASL_SERVER_CALLBACK_HANDLER_CLASS_CONFIG, Known.class.getName());
        }
        settings.put(BrokerSecurityConfigs.SASL_ENABLED_MECHANISMS_CONFIG, mechanism);
        settings.put(BrokerSecurityConfigs.SASL_MECHANISM_INTER_BROKER_PROTOCOL_CONFIG, mechanism);
        settings.put("sasl.mechanism.controller.protocol", mechanism);
        settings.put(BrokerSecurityConfigs.SASL_SERVER_MAX_RECEIVE_SIZE_CONFIG, Integer.toString(STRANGERS_BYTES_MAX));
        settings.put(ServerConfigs.AUTHORIZER_CLASS_NAME_CONFIG, StandardAuthorizer.class.getName());
        settings.put(StandardAuthorizer.SUPER_USERS_CONFIG, "User:" + USER);
        return settings;
    }

    /// Both sides' entry for Kafka's login module, in JAAS's syntax; nothing in it needs quoting.
    private String login(Map<String, String> more) {
        var entry = new StringBuilder(ScramLoginModule.class.getName()).append(" required");
        var options = new HashMap<>(more);
        options.put("username", USER);
        options.put("password", password);
        options.forEach((name, value) ->
                entry.append(' ').append(name).append("=\"").append(value).append('"'));
        return entry.append(';').toString();
    }

    private static String text(byte[] octets) {
        return Base64.getEncoder().encodeToString(octets);
    }

    /// Tells Kafka what it checks the password against, as [#brokerSettings] has it.
    public static final class Known implements AuthenticateCallbackHandler {

        private List<AppConfigurationEntry> entries = List.of();

        @Override
        public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> jaasEntries) {
            entries = jaasEntries;
        }

        @Override
        public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
            boolean named = false;
            for (Callback callback : callbacks) {
                switch (callback) {
                    case NameCallback name -> named = USER.equals(name.getDefaultName());
                    // Without one Kafka refuses.
                    case ScramCredentialCallback asked -> asked.scramCredential(named ? credential() : null);
                    default -> throw new UnsupportedCallbackException(callback);
                }
            }
        }

        private ScramCredential credential() {
            return new ScramCredential(option(SALT), option(STORED_KEY), option(SERVER_KEY), MECHANISM.minIterations());
        }

        private byte[] option(String name) {
            Object value = entries.getFirst().getOptions().get(name);
            return Base64.getDecoder().decode(String.valueOf(value));
        }

        @Override
        public void close() {
            entries = List.of();
        }
    }
}
