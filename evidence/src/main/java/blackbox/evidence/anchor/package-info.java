/// What outside parties vouch for about a recording's time: the witnesses' cosignatures and the time stamps
/// on the log of runs (`schemas/anchors.md`), and which of a run's events they cover.
///
/// Reads what is stored and accepts it only under a trust policy and trusted time authorities. Contacts
/// nobody.
@NullMarked
package blackbox.evidence.anchor;

import org.jspecify.annotations.NullMarked;
