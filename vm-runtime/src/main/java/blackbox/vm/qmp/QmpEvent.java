package blackbox.vm.qmp;

import com.fasterxml.jackson.databind.JsonNode;

/// What QEMU says unasked, for example `SHUTDOWN` with `{"guest": true, "reason": "guest-shutdown"}`.
///
/// @param name in QEMU's words; `DISCONNECTED` is ours
/// @param data what came with it
/// @param atMicros by the host's clock, microseconds since 1970; 0 when QEMU does not say
public record QmpEvent(String name, JsonNode data, long atMicros) {}
