package blackbox.replay.content;

/// Two times that stood for each other: same form, same zone, and each from when its side wrote it.
///
/// @param recordedAt the octet at which it begins in the recorded stream, from 0
/// @param recorded its letters
/// @param actualAt the octet at which it begins in the replay's stream
/// @param actual its letters
public record TiedTime(long recordedAt, String recorded, long actualAt, String actual) {}
