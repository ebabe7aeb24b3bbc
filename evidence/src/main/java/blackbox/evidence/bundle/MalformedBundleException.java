package blackbox.evidence.bundle;

/// What is there is no bundle as the format's page has it: a finding, not an operating failure. Carries one
/// sentence that says why.
public final class MalformedBundleException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedBundleException(String message) {
        super(message);
    }

    MalformedBundleException(String message, Throwable cause) {
        super(message, cause);
    }
}
