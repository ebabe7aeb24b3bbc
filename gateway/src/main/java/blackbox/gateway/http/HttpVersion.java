package blackbox.gateway.http;

/// The version in which a guest asks.
enum HttpVersion {
    HTTP_1_0("http/1.1"),
    HTTP_1_1("http/1.1"),
    HTTP_2("h2");

    private final String protocol;

    HttpVersion(String protocol) {
        this.protocol = protocol;
    }

    /// The protocol of the connection, as ALPN names it.
    String protocol() {
        return protocol;
    }
}
