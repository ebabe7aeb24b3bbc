package blackbox.replay.content;

/// Two values that stood for each other: times of the same form and zone, each from when its side wrote it; or names
/// that programs made up for the same thing.
///
/// @param recordedAt the octet at which it begins in the recorded stream, from 0
/// @param recorded its letters
/// @param actualAt the octet at which it begins in the replay's stream
/// @param actual its letters
public record Tie(long recordedAt, String recorded, long actualAt, String actual) {}
