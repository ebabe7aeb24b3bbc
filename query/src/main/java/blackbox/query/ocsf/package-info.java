/// A run in the terms of the Open Cybersecurity Schema Framework (OCSF).
@NullMarked
package blackbox.query.ocsf;

import org.jspecify.annotations.NullMarked;
