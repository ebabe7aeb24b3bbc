package blackbox.recorder.keys;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.interfaces.ECKey;
import java.security.interfaces.EdECKey;
import java.security.interfaces.RSAKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// With which kinds of keys a server can be authenticated in TLS 1.2 and 1.3, as this JDK and its clients have them
/// (RFC 8446, section 4.2.3). Anything else would show only once a client connects, as a failed handshake.
final class TlsKeyKind {

    static final String FITTING =
            "RSA of 2048 bits or more, ECDSA on P-256, P-384 or P-521, Ed25519, or Ed448: `openssl genpkey -algorithm"
                    + " EC -pkeyopt ec_paramgen_curve:P-256` makes one";

    /// OpenSSL takes fewer from nobody at its usual security level.
    private static final int RSA_BITS_MIN = 2_048;

    private static final List<String> CURVES = List.of("secp256r1", "secp384r1", "secp521r1");

    private TlsKeyKind() {}

    /// What kind a key is, if it cannot be used; null if it can.
    static @Nullable String unfit(PublicKey key) {
        return switch (key) {
            case RSAKey rsa -> {
                int bits = rsa.getModulus().bitLength();
                yield bits >= RSA_BITS_MIN ? null : "RSA of " + bits + " bits";
            }
            case ECKey ec -> {
                BigInteger order = ec.getParams().getOrder();
                yield CURVES.stream().map(TlsKeyKind::order).anyMatch(order::equals)
                        ? null
                        : "ECDSA on another curve, of " + order.bitLength() + " bits";
            }
            case EdECKey _ -> null;
            default -> key.getAlgorithm().equals("EC") ? "ECDSA on a curve that is not known here" : key.getAlgorithm();
        };
    }

    private static BigInteger order(String curve) {
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
            parameters.init(new ECGenParameterSpec(curve));
            return parameters.getParameterSpec(ECParameterSpec.class).getOrder();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no " + curve, e);
        }
    }
}
