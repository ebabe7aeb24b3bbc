/// What a run's agent asked of models and of MCP servers, as the egress gateway read it.
@NullMarked
package blackbox.query.calls;

import org.jspecify.annotations.NullMarked;
