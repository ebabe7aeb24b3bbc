/// What an HTTP exchange was in the terms of agents: which model was called with what, which tools it asked for, what
/// it used, or which tool of an MCP server was called.
///
/// Values here; `read` makes them from the octets of an exchange, as they come. Depends on nothing of ours. Knows no
/// socket, no clock and no host name; never throws for what the octets are, and guesses nothing: what an exchange does
/// not say is null, and what could not be read is named.
@NullMarked
package blackbox.calls;

import org.jspecify.annotations.NullMarked;
