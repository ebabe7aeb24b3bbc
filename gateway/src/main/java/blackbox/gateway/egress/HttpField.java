package blackbox.gateway.egress;

/// A field of a message's head. Names are compared without regard to case.
///
/// @param value without the white space around it; each octet is a character
public record HttpField(String name, String value) {

    /// Whether it has this name.
    public boolean is(String other) {
        return name.equalsIgnoreCase(other);
    }
}
