package blackbox.cli.control;

import blackbox.node.control.ControlRequest;
import blackbox.schemas.RunId;
import picocli.CommandLine.Command;

/// `blackbox kill`.
@Command(
        name = "kill",
        description = "End a run's VM at once; the record says who did so and why.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox kill last --reason 'it deletes what it should not'",
            "  blackbox touched last",
            "",
            "The run is closed with what was recorded until then; the workspace does not come back. To end it so that"
                    + " its workspace comes back, interrupt `blackbox record`."
        })
public final class KillCommand extends ControlCommand {

    KillCommand() {
        super(ControlRequest.Command.KILL);
    }

    @Override
    String done(RunId run) {
        return "ended run " + run;
    }
}
