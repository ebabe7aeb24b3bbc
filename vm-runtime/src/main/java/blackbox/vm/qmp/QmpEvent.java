package blackbox.vm.qmp;

import com.fasterxml.jackson.databind.JsonNode;

/// An asynchronous event of QEMU, for example `SHUTDOWN` with `{"guest": true, "reason": "guest-shutdown"}`.
///
/// @param name in QEMU's words; `DISCONNECTED` is ours
/// @param data its parameters
/// @param atMicros by the host's clock, microseconds since 1970; 0 when QEMU does not say
public record QmpEvent(String name, JsonNode data, long atMicros) {}
