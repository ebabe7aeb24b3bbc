/// The HTTP API of `serve`: the answers of `query` under `/api/v1`, a health check and an OpenAPI document.
///
/// The only package that imports Micronaut. Listens on loopback by default, and beyond it over TLS. Requires a
/// bearer token, except for health, the log of runs and the witness; errors are problem+json (RFC 9457);
/// blocking work runs on virtual threads, and expensive requests are limited. It decides nothing about runs and
/// never writes to a recording.
@NullMarked
package blackbox.node.serve;

import org.jspecify.annotations.NullMarked;
