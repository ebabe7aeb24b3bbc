@NullMarked
package blackbox.ingest.kafka;

import org.jspecify.annotations.NullMarked;
