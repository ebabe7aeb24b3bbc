/// HTTP/1.1 between a guest and one other side: each request is read once, by a strict reader, judged, and written
/// anew.
/// Nothing that the guest sent is passed on as it was but bodies and the values of fields.
///
/// May depend on `egress`, `stack`, `schemas` and Netty. Owned by the gateway's loop; never holds a body.
@NullMarked
package blackbox.gateway.http;

import org.jspecify.annotations.NullMarked;
