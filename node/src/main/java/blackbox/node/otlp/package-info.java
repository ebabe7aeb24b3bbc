/// Traces for receivers of OpenTelemetry.
@NullMarked
package blackbox.node.otlp;

import org.jspecify.annotations.NullMarked;
