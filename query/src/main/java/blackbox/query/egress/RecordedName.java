package blackbox.query.egress;

/// A name that was asked for.
///
/// @param type of the record: `A`, or `TYPE65` where it has no name here
/// @param index of the first event that shows it
/// @param count how often events show it; where guest and host both saw a question, both count
public record RecordedName(String name, String type, long index, long count) {}
