/// The guest's network as it sees it: Ethernet, ARP, ICMP, UDP and TCP in user space, over one socket to the machine.
///
/// All of it is owned by one event loop. It decides nothing: whoever opens a flow asks a [FlowHandler]. Nothing a guest
/// sends can make it wait, or hold more memory than [StackSettings] says.
@NullMarked
package blackbox.gateway.stack;

import org.jspecify.annotations.NullMarked;
