package blackbox.evidence.bundle;

/// The input is not a bundle as `schemas/bundle.md` specifies it: a finding, not an operating failure.
/// Carries one sentence that says why.
public final class MalformedBundleException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedBundleException(String message) {
        super(message);
    }

    MalformedBundleException(String message, Throwable cause) {
        super(message, cause);
    }
}
