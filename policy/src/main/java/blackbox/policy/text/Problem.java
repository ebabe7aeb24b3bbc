package blackbox.policy.text;

/// What is wrong at one place of a policy.
///
/// @param what a clause: what is wrong and, where that is not evident, how to mend it
public record Problem(Place place, String what) {
    @Override
    public String toString() {
        return place + ": " + what;
    }
}
