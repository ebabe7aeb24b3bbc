@NullMarked
package blackbox.ingest;

import org.jspecify.annotations.NullMarked;
