package blackbox.replay.content;

import blackbox.replay.request.Difference;

/// Where two streams first differ. The places differ where a time stood for one of another length before them.
///
/// @param recorded the first octet that differs in the recorded stream, from 0; its length if it ends there
/// @param actual the same of the replay's stream
/// @param octets those around it, which may be secret
public record ContentDifference(long recorded, long actual, Difference octets) {}
