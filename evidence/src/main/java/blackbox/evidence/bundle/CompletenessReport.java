package blackbox.evidence.bundle;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.verify.EventAccount;
import blackbox.evidence.verify.Losses;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/// A report of what was recorded and what was not: each CPU's sequence numbers, the declared losses,
/// heartbeats and the longest time between two, and how the run ended. Made from the rows alone, so that a
/// verifier can make it again and compare.
final class CompletenessReport {

    /// The version that bundles get now. Those of [BundleLayout#FIRST_VERSION] have 1, which says nothing of what is
    /// not known.
    static final int VERSION = 2;

    private static final int CPUS_MAX = 4_096;
    private static final int LOSSES_MAX = 10_000;

    private final TreeMap<Long, Cpu> cpus = new TreeMap<>();
    private final List<long[]> losses = new ArrayList<>();
    private long events;
    private long heartbeats;
    private long lastBeatNs;
    private long beatGapNsMax;
    private long closeIndex = -1;
    private final EventAccount account = new EventAccount();

    /// First and last number of a CPU, and how many were seen.
    private static final class Cpu {
        private long first = Long.MAX_VALUE;
        private long last;
        private long seen;
    }

    private CompletenessReport() {}

    /// The report on a run, as the content of its file.
    ///
    /// @param version of the report, 1 or [#VERSION]
    static byte[] of(Recordings recordings, RunId run, int version) throws IOException {
        var report = new CompletenessReport();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next()) {
                report.see(reader.index(), reader.row());
            }
        }
        return report.toJson(run, version);
    }

    private void see(long index, Row row) {
        events = index + 1;
        account.see(index, row);
        if (!row.has(Column.KIND)) {
            return;
        }
        long kind = row.number(Column.KIND);
        if (kind == Kind.RECORDER_HEARTBEAT.code()) {
            beat(row.has(Column.AT_NS) ? row.number(Column.AT_NS) : lastBeatNs);
        } else if (kind == Kind.RUN_CLOSE.code()) {
            closeIndex = index;
        } else if (kind == Kind.RECORDER_LOSS.code() && row.has(Column.LOST)) {
            if (losses.size() < LOSSES_MAX) {
                losses.add(new long[] {index, row.number(Column.LOST)});
            }
        }
        if (row.has(Column.CPU) && row.has(Column.CPU_SEQ)) {
            sequence(row.number(Column.CPU), row.number(Column.CPU_SEQ));
        }
    }

    private void beat(long atNs) {
        heartbeats++;
        if (heartbeats > 1) {
            beatGapNsMax = Math.max(beatGapNsMax, atNs - lastBeatNs);
        }
        lastBeatNs = atNs;
    }

    private void sequence(long number, long sequence) {
        if (cpus.containsKey(number) || cpus.size() < CPUS_MAX) {
            Cpu cpu = cpus.computeIfAbsent(number, _ -> new Cpu());
            cpu.first = Math.min(cpu.first, sequence);
            cpu.last = Math.max(cpu.last, sequence);
            cpu.seen++;
        }
    }

    private byte[] toJson(RunId run, int version) throws IOException {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = new JsonFactory().createGenerator(octets)) {
            out.writeStartObject();
            out.writeNumberField("version", version);
            out.writeStringField("run", run.value());
            out.writeNumberField("events", events);
            writeCpus(out);
            out.writeNumberField("declaredLost", account.declared());
            out.writeArrayFieldStart("losses");
            for (long[] loss : losses) {
                out.writeStartObject();
                out.writeNumberField("index", loss[0]);
                out.writeNumberField("lost", loss[1]);
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeNumberField("heartbeats", heartbeats);
            out.writeNumberField("heartbeatGapNsMax", beatGapNsMax);
            if (closeIndex < 0) {
                out.writeNullField("closedAtIndex");
            } else {
                out.writeNumberField("closedAtIndex", closeIndex);
            }
            if (version > 1) {
                writeAccount(out);
            }
            out.writeEndObject();
        }
        octets.write('\n');
        return octets.toByteArray();
    }

    private void writeAccount(JsonGenerator out) throws IOException {
        Losses losses = account.losses(false);
        losses.writeFields(out);
        out.writeArrayFieldStart("unknownBecause");
        if (!losses.isKnown()) {
            for (String name : account.unknownBecause()) {
                out.writeString(name);
            }
        }
        out.writeEndArray();
    }

    private void writeCpus(JsonGenerator out) throws IOException {
        out.writeArrayFieldStart("cpus");
        for (var entry : cpus.entrySet()) {
            Cpu cpu = entry.getValue();
            out.writeStartObject();
            out.writeNumberField("cpu", entry.getKey());
            out.writeNumberField("first", cpu.first);
            out.writeNumberField("last", cpu.last);
            out.writeNumberField("seen", cpu.seen);
            out.writeEndObject();
        }
        out.writeEndArray();
    }
}
