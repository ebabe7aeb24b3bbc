package blackbox.cli.control;

import blackbox.node.control.ControlRequest;
import blackbox.schemas.RunId;
import picocli.CommandLine.Command;

/// `blackbox pause`.
@Command(
        name = "pause",
        description = "Stop a run's VM where it is, until `resume`; the record says who did so and why.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox pause last --reason 'it reads keys that it does not need'",
            "  blackbox show last",
            "  blackbox resume last --reason 'it was asked to'",
            "",
            "The VM's processors stop, and then the host's kernel stops the hypervisor: nothing in the VM can prevent"
                    + " that. Time that passes meanwhile does not count for --timeout."
        })
public final class PauseCommand extends ControlCommand {

    PauseCommand() {
        super(ControlRequest.Command.PAUSE);
    }

    @Override
    String done(RunId run) {
        return "paused run " + run;
    }
}
