package blackbox.gateway;

import blackbox.gateway.dial.DialSettings;
import blackbox.gateway.stack.StackSettings;
import java.time.Duration;

/// Addresses and limits of a gateway.
///
/// @param namesMax how many names are given addresses
/// @param namesPerRuleMax how many of them one rule may allow
/// @param verdictMax how long an authority may take
public record GatewaySettings(
        StackSettings stack, DialSettings dial, int namesMax, int namesPerRuleMax, Duration verdictMax) {

    public static final GatewaySettings DEFAULT =
            new GatewaySettings(StackSettings.DEFAULT, DialSettings.DEFAULT, 16_384, 1_024, Duration.ofSeconds(10));

    /// With another network for the guest.
    public GatewaySettings withStack(StackSettings other) {
        return new GatewaySettings(other, dial, namesMax, namesPerRuleMax, verdictMax);
    }

    /// With other limits on dialling.
    public GatewaySettings withDial(DialSettings other) {
        return new GatewaySettings(stack, other, namesMax, namesPerRuleMax, verdictMax);
    }
}
