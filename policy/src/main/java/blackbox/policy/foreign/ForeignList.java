package blackbox.policy.foreign;

import java.util.List;

/// What another sandbox's file allows and denies.
///
/// @param allowed in the order of the file
/// @param denied in the order of the file
/// @param notes what the file says that a policy does not, in sentences
record ForeignList(Origin origin, List<Entry> allowed, List<Entry> denied, List<String> notes) {

    ForeignList {
        allowed = List.copyOf(allowed);
        denied = List.copyOf(denied);
        notes = List.copyOf(notes);
    }

    /// One entry.
    ///
    /// @param said as it is in the file
    /// @param key `host` or `address`
    /// @param value of that key
    /// @param ports as a policy writes them in a list
    record Entry(String said, String key, String value, String ports) {}
}
