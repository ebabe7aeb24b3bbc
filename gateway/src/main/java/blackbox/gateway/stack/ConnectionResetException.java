package blackbox.gateway.stack;

import blackbox.gateway.egress.FlowEnd.How;
import java.io.IOException;

/// A guest's connection ended before both sides were done.
public final class ConnectionResetException extends IOException {
    private static final long serialVersionUID = 1L;

    private final How how;

    ConnectionResetException(How how) {
        super("the guest's connection ended early: " + how);
        this.how = how;
    }

    /// How it ended.
    public How how() {
        return how;
    }
}
