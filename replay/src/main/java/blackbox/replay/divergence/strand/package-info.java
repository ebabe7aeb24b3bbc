/// A run's events as strands, one for each thread of the guest in the order in which it acted, each event reduced to a
/// token; and who started whom. Depends on `text`.
@NullMarked
package blackbox.replay.divergence.strand;

import org.jspecify.annotations.NullMarked;
