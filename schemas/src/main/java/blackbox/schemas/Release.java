package blackbox.schemas;

/// Which Blackbox this is.
public final class Release {

    /// As the POMs have it.
    public static final String VERSION = "0.1.0";

    private Release() {}
}
