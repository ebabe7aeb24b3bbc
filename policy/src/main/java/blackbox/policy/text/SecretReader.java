package blackbox.policy.text;

import blackbox.policy.Secret;
import blackbox.policy.SecretSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads declarations of secrets.
final class SecretReader {

    private static final String PLACE = "basic|path|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+|query:[A-Za-z0-9._~-]+|body:/.*";

    private static final Map<String, String> NO_VALUE =
            Map.of("value", "the value of a secret is never part of a policy; say where it is: file, env or command");

    private SecretReader() {}

    static @Nullable Secret read(Node node, List<Problem> problems) {
        Fields fields =
                Fields.of(node, "a secret", problems, NO_VALUE, List.of("id", "file", "env", "command", "place"));
        if (fields == null) {
            return null;
        }
        fields.require("id", ", by which rules name it");
        String id = fields.value("id", PolicyReader::id);
        String place = fields.value("place", SecretReader::place);
        String file = fields.value("file", text -> text);
        String variable = fields.value("env", SecretReader::variable);
        List<String> command = fields.values("command", text -> text);
        if (List.of("file", "env", "command").stream().filter(fields::has).count() > 1) {
            fields.problem(fields.place(), "a secret has one source: file, env or command");
        }
        SecretSource source = file != null
                ? new SecretSource.File(file)
                : variable != null
                        ? new SecretSource.Variable(variable)
                        : command.isEmpty() ? null : new SecretSource.Command(command);
        return id == null ? null : new Secret(id, source, place);
    }

    private static String variable(String text) {
        if (!text.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            throw new IllegalArgumentException("it is the name of a variable of the environment");
        }
        return text;
    }

    private static String place(String text) {
        if (!text.matches(PLACE) || text.startsWith("body:") && text.matches(".*~(?![01]).*")) {
            throw new IllegalArgumentException("it is header:NAME, basic, query:NAME, path or body:/JSON/POINTER");
        }
        // Names of header fields have no case (RFC 9110, section 5.1).
        return text.startsWith("header:") ? text.toLowerCase(Locale.ROOT) : text;
    }
}
