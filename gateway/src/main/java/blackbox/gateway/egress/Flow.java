package blackbox.gateway.egress;

import blackbox.schemas.event.Endpoint;

/// The addresses of a connection or of an exchange of datagrams, as they are in the guest's frames: by them the guest's
/// own events and the recorder's flows are found.
///
/// @param remote what the guest sent to; usually an address that only stands for a name
public record Flow(Protocol protocol, Endpoint guest, Endpoint remote) {}
