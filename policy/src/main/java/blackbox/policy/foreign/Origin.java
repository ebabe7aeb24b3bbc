package blackbox.policy.foreign;

/// Whose configuration a file is.
public enum Origin {
    /// Settings of sandbox-runtime (JSON): `network.allowedDomains` and `network.deniedDomains`.
    SANDBOX_RUNTIME("sandbox-runtime"),
    /// A `jcard.toml` of masterblaster: `egress_allow` in its table `network`.
    JCARD("jcard");

    private final String word;

    Origin(String word) {
        this.word = word;
    }

    /// As it is written on a command line.
    public String word() {
        return word;
    }
}
