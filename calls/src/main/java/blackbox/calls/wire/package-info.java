/// What carries the JSON: content codings, server-sent events and the event streams of AWS, all decoded as they come
/// in.
@NullMarked
package blackbox.calls.wire;

import org.jspecify.annotations.NullMarked;
