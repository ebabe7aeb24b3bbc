/// The verifier that an auditor takes home: one small jar, no broker, no query engine, no network.
///
/// Only a command line around the verification code of the module `evidence`, which `blackbox verify` calls too, so
/// both give the same answers. Depends on `schemas` and `evidence`; reads what it is given, writes to standard
/// output.
@NullMarked
package blackbox.verifier;

import org.jspecify.annotations.NullMarked;
