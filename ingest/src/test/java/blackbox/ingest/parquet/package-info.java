@NullMarked
package blackbox.ingest.parquet;

import org.jspecify.annotations.NullMarked;
