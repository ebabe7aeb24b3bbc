/// Arguments as the kernel has them: octets, which a Java string alone cannot hold.
@NullMarked
package blackbox.cli.argv;

import org.jspecify.annotations.NullMarked;
