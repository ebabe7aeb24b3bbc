package blackbox.gateway.http;

/// A message that is no HTTP, or that two readers could take for two different ones.
final class HttpFault extends Exception {
    private static final long serialVersionUID = 1L;

    static final int BAD_REQUEST = 400;
    static final int TARGET_TOO_LONG = 414;
    static final int EXPECTATION_FAILED = 417;
    static final int FIELDS_TOO_LARGE = 431;
    static final int VERSION_NOT_SUPPORTED = 505;

    private final int status;

    HttpFault(int status, String message) {
        super(message);
        this.status = status;
    }

    static HttpFault bad(String message) {
        return new HttpFault(BAD_REQUEST, message);
    }

    /// What a guest is answered.
    int status() {
        return status;
    }

    /// For people.
    String text() {
        return String.valueOf(getMessage());
    }
}
