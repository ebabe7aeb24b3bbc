/// OpenSSL's Ed25519, through JNA: it needs no warm-up. A signature that it accepts counts as valid; any other is
/// left to the JDK. Without it everything works the same, only more slowly
/// (docs/decisions/0080-ed25519-by-openssl.md).
@NullMarked
package blackbox.node.openssl;

import org.jspecify.annotations.NullMarked;
