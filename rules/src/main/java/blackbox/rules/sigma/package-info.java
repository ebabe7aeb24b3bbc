/// From Sigma's YAML to rules.
@NullMarked
package blackbox.rules.sigma;

import org.jspecify.annotations.NullMarked;
