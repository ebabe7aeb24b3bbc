/// What recorded runs sent out, judged by an egress policy or turned into one.
///
/// It knows of traffic what the record knows: names, addresses, ports, programs and octets. It says what it
/// does not know.
@NullMarked
package blackbox.query.egress;

import org.jspecify.annotations.NullMarked;
