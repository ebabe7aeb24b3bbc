package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.Identities;
import blackbox.cli.output.TravelReport;
import blackbox.cli.terminal.Narrator;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.node.travel.RunImport;
import blackbox.node.travel.TravelException;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.age.AgeUnlock;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox import`.
@Command(
        name = "import",
        description = {
            "Take a run from a file that `export --format replay` wrote, to replay it here; needs no network.",
            "All of the file is checked before anything is taken, and nothing that is here is replaced. It adds no trust: a run",
            "for which no trusted key vouches can be replayed all the same, and is called untrusted everywhere."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:taken, or here already with the same events",
            "1:something is not what was written or sealed, or a run with other events is here; nothing was taken",
            "2:the file cannot be opened with what was given, or is no such file; nothing was taken",
            "3:an operating failure; nothing was taken"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox import --identity me.identity incident.bbrun && blackbox replay last",
            "  blackbox import --passphrase-file pass --key their-log.pub incident.bbrun",
            "",
            "A file from a stranger may hold a QEMU of its own, which a replay executes: import says so. Have the author export",
            "with --slim, and use your own image and QEMU, if that is not what you want."
        })
final class ImportCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(paramLabel = "FILE", description = "The file to import.")
    private Path file = Path.of("");

    @Option(
            names = "--passphrase-file",
            paramLabel = "FILE",
            description = "The file with the passphrase that it was encrypted with.")
    @Nullable
    private Path passphraseFile;

    @Option(
            names = "--identity",
            paramLabel = "FILE",
            description = "Your identity, if it was encrypted to its public key: see `blackbox keys identity`.")
    @Nullable
    private Path identityFile;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "A public key to trust for this run: that of the recorder's log of runs; may be repeated.")
    private List<Path> keyFiles = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, TravelException, VmException {
        AgeUnlock key = key();
        var trusted = new ArrayList<NoteVerifier>();
        for (Path each : keyFiles) {
            try {
                trusted.add(NoteVerifiers.parse(Files.readString(each).strip()));
            } catch (IOException | IllegalArgumentException e) {
                throw CommandException.badInput("there is no public key in " + each + ": " + e.getMessage());
            }
        }
        DataFolder folder = common.ownDataFolder();
        RunImport.Taken taken;
        try (var narrator = Narrator.onStandardError()) {
            taken = new RunImport(folder, narrator::say).take(new RunImport.Request(file, key, trusted));
        }
        if (taken.foreignQemu() != null) {
            System.err.println("blackbox: a replay of this run executes the QEMU that came with it, "
                    + taken.foreignQemu() + (taken.trusted() ? "" : ", whose author is not trusted here"));
        }
        TravelReport.print(spec.commandLine().getOut(), common.json(), file, taken);
        return ExitCodes.OK;
    }

    private @Nullable AgeUnlock key() {
        if (passphraseFile != null && identityFile != null) {
            throw CommandException.badInput(
                    "--passphrase-file and --identity exclude one another: a file is encrypted in one" + " way");
        }
        if (identityFile != null) {
            return Identities.read(identityFile);
        }
        return passphraseFile == null ? null : Identities.passphrase(passphraseFile);
    }
}
