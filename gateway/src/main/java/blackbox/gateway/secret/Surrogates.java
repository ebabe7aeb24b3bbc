package blackbox.gateway.secret;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/// Makes what stands for a secret in a guest: the beginning by which programs know what kind of credential it is, and
/// 128 random bits. It consists of letters, digits, `-` and `_`, which no form of quoting changes.
public final class Surrogates {
    /// Beginnings that are public, the longer of those that begin alike first.
    private static final List<String> PREFIXES = List.of(
            "sk-ant-api03-",
            "sk-ant-oat01-",
            "sk-ant-",
            "sk-proj-",
            "sk-svcacct-",
            "sk-or-v1-",
            "sk-",
            "sk_live_",
            "sk_test_",
            "github_pat_",
            "ghp_",
            "gho_",
            "ghs_",
            "ghu_",
            "glpat-",
            "xoxb-",
            "xoxp-",
            "xapp-",
            "AIza",
            "npm_",
            "pypi-",
            "hf_",
            "gsk_",
            "xai-",
            "r8_");
    private static final String OTHERS = "surrogate-";
    private static final int RANDOM_BYTES = 16;

    private Surrogates() {}

    /// A new one.
    public static String of(SecretValue value, SecureRandom random) {
        var bits = new byte[RANDOM_BYTES];
        random.nextBytes(bits);
        String prefix = PREFIXES.stream().filter(value::startsWith).findFirst().orElse(OTHERS);
        return prefix + HexFormat.of().formatHex(bits);
    }
}
