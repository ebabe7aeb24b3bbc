/// Reads JSON-RPC strictly, for who decides by it: what two readers could take for two things is refused.
@NullMarked
package blackbox.calls.rpc;

import org.jspecify.annotations.NullMarked;
