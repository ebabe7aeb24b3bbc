/// The benchmarks: programs that `make bench` runs end to end and that write `bench/results.json`.
///
/// Each measures a peer or a physical limit in the same run, because figures from a shared machine mean something
/// only in comparison. They use the product as it is and are not part of it: nothing may depend on this module.
@NullMarked
package blackbox.bench;

import org.jspecify.annotations.NullMarked;
