/// Evidence bundles: everything about one run that a verification needs, in one ZIP or folder
/// (`schemas/bundle.md`), and its verifier.
///
/// A bundle is laid out as the data folder it comes from, so its run is verified by the same code; added to
/// it are a signed statement over the digest of every file and a report of what is complete and what is not.
/// Depends on the stores, the verifier and the attestations; no query engine, no data binding, no network.
@NullMarked
package blackbox.evidence.bundle;

import org.jspecify.annotations.NullMarked;
