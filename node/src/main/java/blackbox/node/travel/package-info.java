/// A run travels: it is exported with all that a replay of it needs, and imported elsewhere (`schemas/parcel.md`).
///
/// Encrypts, streams, checks and puts in place; `evidence` judges whether a run holds, and who is trusted is for the
/// data folder to say. Nothing that is imported is ever used to record.
@NullMarked
package blackbox.node.travel;

import org.jspecify.annotations.NullMarked;
