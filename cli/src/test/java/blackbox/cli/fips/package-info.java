/// FIPS mode, in JVMs of their own.
@NullMarked
package blackbox.cli.fips;

import org.jspecify.annotations.NullMarked;
