@NullMarked
package blackbox.ingest.table;

import org.jspecify.annotations.NullMarked;
