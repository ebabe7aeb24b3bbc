package blackbox.calls.rpc;

/// What is no JSON-RPC, or could be read in two ways.
public final class RpcException extends Exception {
    private static final long serialVersionUID = 1L;

    RpcException(String message) {
        super(message);
    }

    RpcException(String message, Exception cause) {
        super(message, cause);
    }

    /// A clause about the body.
    public String why() {
        return String.valueOf(getMessage());
    }
}
