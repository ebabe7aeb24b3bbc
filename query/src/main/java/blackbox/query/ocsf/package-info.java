/// A run in the terms of the Open Cybersecurity Schema Framework (OCSF), as lines of JSON and as
/// Parquet.
@NullMarked
package blackbox.query.ocsf;

import org.jspecify.annotations.NullMarked;
