/// OpenSSL's Ed25519, through JNA: it verifies without warming up. It finds signatures that hold and decides
/// nothing; without it everything works as it does with it (docs/decisions/0080-ed25519-by-openssl.md).
@NullMarked
package blackbox.node.openssl;

import org.jspecify.annotations.NullMarked;
