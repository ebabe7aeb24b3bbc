package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.EvidenceException;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.LogProof;
import blackbox.evidence.proof.EventProof;
import blackbox.evidence.proof.EventProver;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.UnprovableException;
import blackbox.query.QueryException;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox prove`.
@Command(
        name = "prove",
        description =
                "Write a proof of one event that anyone can check offline: its leaf, the paths to the checkpoints of its"
                        + " run and of the log of runs, and who signed them.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox prove last 42 --out event.json",
            "  blackbox verify event.json --key log.pub",
            "  blackbox events last --kind net.connect --json | head -1     finds an index"
        })
final class ProveCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Parameters(index = "1", paramLabel = "INDEX", description = "The event's index in the run, from 0.")
    private long index;

    @Option(names = "--out", paramLabel = "FILE", description = "Where to write the proof (default: standard output).")
    @Nullable
    private Path file;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException, EvidenceException {
        var recordings = common.recordings();
        EventProof proof;
        try {
            proof = EventProver.open(recordings, run.resolve(recordings)).prove(index);
        } catch (UnprovableException e) {
            spec.commandLine().getErr().println("blackbox: " + e.getMessage());
            return ExitCodes.DOES_NOT_HOLD;
        }
        give(proof);
        PrintWriter err = spec.commandLine().getErr();
        proof.limits().forEach(limit -> err.println("limit: " + limit));
        err.flush();
        return ExitCodes.OK;
    }

    /// The proof is itself a JSON document, so `--json` changes only what is printed when the proof goes to a
    /// file.
    private void give(EventProof proof) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        byte[] octets = ProofJson.encode(proof);
        Path target = file;
        if (target == null) {
            out.print(new String(octets, StandardCharsets.UTF_8));
            out.flush();
            return;
        }
        Files.write(target, octets);
        if (common.json()) {
            JsonOut.document(out, json -> write(json, proof, target, octets.length));
        } else {
            out.println("proof of event " + proof.index() + " of run " + proof.run() + " written to " + target);
            out.flush();
        }
    }

    private static void write(JsonGenerator out, EventProof proof, Path target, int bytes) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", proof.run().value());
        out.writeNumberField("index", proof.index());
        out.writeStringField("file", target.toString());
        out.writeNumberField("bytes", bytes);
        size(out, "runCheckpoint", proof.event().inRun());
        size(out, "logCheckpoint", proof.inLog());
        out.writeArrayFieldStart("limits");
        for (String limit : proof.limits()) {
            out.writeString(limit);
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    /// The size of the tree that a proof leads to, or null.
    private static void size(JsonGenerator out, String name, @Nullable LogProof proof) throws IOException {
        Checkpoint checkpoint =
                proof == null ? null : Checkpoint.parse(proof.note().text());
        out.writeFieldName(name);
        if (checkpoint == null) {
            out.writeNull();
        } else {
            out.writeNumber(checkpoint.size());
        }
    }
}
