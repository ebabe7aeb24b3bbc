package blackbox.calls;

import java.util.List;

/// A call that an exchange made.
public sealed interface Call permits ModelCall, McpCall {
    /// What of the exchange could not be read, and why; each reason once. Empty if all of it was read.
    List<String> notRead();
}
