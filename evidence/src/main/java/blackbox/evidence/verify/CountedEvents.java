package blackbox.evidence.verify;

/// Events that share one remark: counted, so that a long run has one finding and no event is left out
/// silently.
final class CountedEvents {

    private final String ofOne;
    private final String ofMany;
    private long first = -1;
    private long count;

    /// The predicates of "this event" and of "these events".
    CountedEvents(String ofOne, String ofMany) {
        this.ofOne = ofOne;
        this.ofMany = ofMany;
    }

    void add(long index) {
        first = count == 0 ? index : first;
        count++;
    }

    /// Reports them, if there are any.
    void tell(Findings findings) {
        if (count == 1) {
            findings.note(first, "this event " + ofOne);
        } else if (count > 1) {
            findings.note(first, count + " events, of which this is the first, " + ofMany);
        }
    }
}
