/// What agents ask about recordings, by the Model Context Protocol: tools that only read. The protocol is the
/// SDK's; the answers are those of the command line and of the API.
@NullMarked
package blackbox.node.mcp;

import org.jspecify.annotations.NullMarked;
