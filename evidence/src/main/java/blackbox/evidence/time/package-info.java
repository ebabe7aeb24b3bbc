/// Time stamps of outside authorities (RFC 3161, RFC 5816): asking for one, and checking one over given octets.
///
/// The only package of this module that imports Bouncy Castle, for ASN.1, CMS and TSP; certificate paths are judged by
/// the JDK. Pure: nonce, trusted certificates and octets come from the caller, and no clock is read, since
/// a stamp is judged as of its own time.
@NullMarked
package blackbox.evidence.time;

import org.jspecify.annotations.NullMarked;
