@NullMarked
package blackbox.ingest.broker;

import org.jspecify.annotations.NullMarked;
