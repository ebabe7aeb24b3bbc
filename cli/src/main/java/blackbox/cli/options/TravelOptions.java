package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.cli.terminal.Narrator;
import blackbox.evidence.EvidenceException;
import blackbox.node.travel.RunExport;
import blackbox.node.travel.TravelException;
import blackbox.recorder.RecorderException;
import blackbox.replay.ReplayException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.age.AgeLock;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How a run with all that a replay needs is written to a file; add it as `@Mixin`.
public final class TravelOptions {

    @Option(
            names = "--slim",
            description = "replay: leave out image, QEMU and snapshot, which must be where it is imported.")
    private boolean slim;

    @Option(
            names = "--passphrase-file",
            paramLabel = "FILE",
            description = "replay: encrypt it with the passphrase in FILE.")
    @Nullable
    private Path passphraseFile;

    @Option(
            names = "--to",
            paramLabel = "KEY",
            description = "replay: encrypt it to a public key, age1…, or to those in the file KEY; may be repeated.")
    private List<String> to = new ArrayList<>();

    @Option(
            names = "--in-the-clear",
            description =
                    "replay: do not encrypt it. Whoever gets the file reads what the agent saw: network traffic, files,"
                            + " what it was given and what it printed.")
    private boolean inTheClear;

    /// Refuses these options where they mean nothing, and an export that says nothing of who may read it.
    ///
    /// @param travels whether the format is `replay`
    public void requireFormat(boolean travels) {
        int said = (passphraseFile == null ? 0 : 1) + (to.isEmpty() ? 0 : 1) + (inTheClear ? 1 : 0);
        if (!travels) {
            if (said > 0 || slim) {
                throw CommandException.badInput(
                        "--passphrase-file, --to, --in-the-clear and --slim apply to --format replay only");
            }
        } else if (said == 0) {
            throw CommandException.badInput(
                    "who may read it? What travels with a run holds what the agent saw, so it is"
                            + " encrypted: to a public key with --to KEY (`blackbox keys identity` makes one where it goes), or"
                            + " with --passphrase-file FILE. Only --in-the-clear leaves it readable to everyone");
        } else if (said > 1) {
            throw CommandException.badInput("--passphrase-file, --to and --in-the-clear exclude one another");
        }
    }

    /// Writes it.
    ///
    /// @param out the file, or null for one that is named after the run
    public RunExport.Written export(DataFolder folder, RunId run, @Nullable Path out)
            throws IOException, TravelException, EvidenceException, ReplayException, RecorderException, VmException {
        try (var narrator = Narrator.onStandardError()) {
            return new RunExport(folder, narrator::say)
                    .write(new RunExport.Request(run, out == null ? Path.of(run + ".bbrun") : out, slim, locks()));
        }
    }

    private List<AgeLock> locks() {
        var locks = new ArrayList<AgeLock>();
        if (passphraseFile != null) {
            locks.add(Identities.passphrase(passphraseFile));
        }
        to.forEach(word -> locks.addAll(Identities.recipients(word)));
        return locks;
    }
}
