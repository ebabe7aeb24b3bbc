@NullMarked
package blackbox.ingest.service;

import org.jspecify.annotations.NullMarked;
