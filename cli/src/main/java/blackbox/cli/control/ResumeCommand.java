package blackbox.cli.control;

import blackbox.node.control.ControlRequest;
import blackbox.schemas.RunId;
import picocli.CommandLine.Command;

/// `blackbox resume`.
@Command(
        name = "resume",
        description = "Let a run go on that was paused; the record says who did so and why.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox resume last --reason 'it was asked to read them'",
            "",
            "In the live tier the VM's clock is set to the present time."
        })
public final class ResumeCommand extends ControlCommand {

    ResumeCommand() {
        super(ControlRequest.Command.RESUME);
    }

    @Override
    String done(RunId run) {
        return "run " + run + " goes on";
    }
}
