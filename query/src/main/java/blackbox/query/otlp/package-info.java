/// A run's calls of models, tools and MCP servers as traces of OpenTelemetry, for tools that read OTLP. What the record
/// does not know is left out; nothing is sent anywhere.
@NullMarked
package blackbox.query.otlp;

import org.jspecify.annotations.NullMarked;
