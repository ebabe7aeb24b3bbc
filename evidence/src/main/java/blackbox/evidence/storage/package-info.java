/// The port through which sealed data files and their seals are stored, listed and read, and its
/// implementation for the local disk.
///
/// Ingest puts files, evidence reads them. Knows nothing of what is in a file; never changes one.
@NullMarked
package blackbox.evidence.storage;

import org.jspecify.annotations.NullMarked;
