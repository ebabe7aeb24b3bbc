package blackbox.schemas;

/// Which Blackbox this is.
public final class Release {

    /// The version in the POMs.
    public static final String VERSION = "0.1.0";

    private Release() {}
}
