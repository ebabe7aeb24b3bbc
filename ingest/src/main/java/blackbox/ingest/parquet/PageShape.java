package blackbox.ingest.parquet;

/// What a data page counts: rows, entries without a value, and entries in all (more than rows where lists are).
record PageShape(int rows, int nulls, int values) {}
