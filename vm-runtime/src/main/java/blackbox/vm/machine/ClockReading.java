package blackbox.vm.machine;

import java.time.Instant;

/// The guest's clocks and the host's, read together.
///
/// @param host the host's wall clock, midway between question and answer
/// @param guestBootNanos the guest's boot clock, which its events carry
/// @param guestWallNanos the guest's wall clock, nanoseconds since 1970
/// @param roundTripNanos between question and answer: twice the possible error of `host`
public record ClockReading(Instant host, long guestBootNanos, long guestWallNanos, long roundTripNanos) {}
