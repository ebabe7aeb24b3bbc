package blackbox.gateway.egress;

/// What an [EgressAuthority] decided on a request.
///
/// @param target the form of the target that was judged and is forwarded
/// @param status what a client hears that is refused: 403, 421 or 429
/// @param passage asked of what passes under the verdict
public record RequestVerdict(Verdict verdict, String target, int status, Passage passage) {

    /// One that nothing more is asked of.
    public RequestVerdict(Verdict verdict, String target, int status) {
        this(verdict, target, status, Passage.FREE);
    }
}
