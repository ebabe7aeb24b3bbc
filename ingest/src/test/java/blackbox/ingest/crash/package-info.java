@NullMarked
package blackbox.ingest.crash;

import org.jspecify.annotations.NullMarked;
