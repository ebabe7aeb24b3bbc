/// What the gateway asks, and what it tells: whether a name or a connection is allowed, what was decided, what moved
/// and what was strange.
///
/// Values and the two interfaces that the rest of Blackbox implements; they know nothing about packets or sockets.
@NullMarked
package blackbox.gateway.egress;

import org.jspecify.annotations.NullMarked;
