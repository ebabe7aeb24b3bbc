/// Takes sealed batches from Kafka, checks them, and commits their rows to the table, each exactly once.
///
/// `service` is what others start. Depends on `schemas`, `files` and `evidence`; Kafka, Parquet and Iceberg are
/// each imported by one package below. Never repairs or drops what fails its check: that goes to quarantine and is
/// reported.
@NullMarked
package blackbox.ingest;

import org.jspecify.annotations.NullMarked;
