/// Logging people in by an identity provider.
@NullMarked
package blackbox.node.login;

import org.jspecify.annotations.NullMarked;
