@NullMarked
package blackbox.ingest.check;

import org.jspecify.annotations.NullMarked;
