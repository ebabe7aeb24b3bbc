/// A policy as text: YAML that people write, and the canonical JSON of which the digest is sealed.
@NullMarked
package blackbox.policy.text;

import org.jspecify.annotations.NullMarked;
