package blackbox.gateway.dial;

import blackbox.gateway.egress.Verdict;
import java.net.InetAddress;

/// An address that may be dialled.
///
/// @param verdict what the authority said of it
public record Place(InetAddress address, Verdict verdict) {}
