package blackbox.gateway.http;

/// What a session of HTTP does.
enum SessionState {
    /// The head of a request is awaited.
    HEAD,
    /// It is being judged, or the other side dialled.
    PENDING,
    /// Its body and the answer are passed on.
    FORWARDING,
    /// The guest was answered, and the rest of its request is dropped.
    DRAINING,
    /// Nothing is done here any more.
    OVER
}
