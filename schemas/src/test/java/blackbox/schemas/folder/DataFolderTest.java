package blackbox.schemas.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.RunId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DataFolderTest {
    private static final String RUN = "01arz3ndektsv4rrffq69g5fav";

    /// What earlier versions stored is found under these names.
    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("alerts", "alerts"),
            Map.entry("anchorsConf", "keys/anchors.conf"),
            Map.entry("apiToken", "api-token"),
            Map.entry("apiTokens", "api-tokens.json"),
            Map.entry("archive", "archive"),
            Map.entry("archivedBySha512", "archive/sha512"),
            Map.entry("archivedObjects", "archive/sha256"),
            Map.entry("cache", "cache"),
            Map.entry("captures", "captures"),
            Map.entry("captures(run)", "captures/" + RUN),
            Map.entry("catalog", "catalog.db"),
            Map.entry("control(run)", "runs/" + RUN + "/control"),
            Map.entry("dataFiles(run)", "warehouse/blackbox/events/data/run=" + RUN),
            Map.entry("images", "images"),
            Map.entry("imagesLock", "images/lock"),
            Map.entry("imported", "imported"),
            Map.entry("importedEvidence(run)", "imported/runs/" + RUN + "/evidence"),
            Map.entry("importedImages", "imported/images"),
            Map.entry("importedQemu", "imported/qemu"),
            Map.entry("importedRun(run)", "imported/runs/" + RUN),
            Map.entry("importedRuns", "imported/runs"),
            Map.entry("importedSnapshots", "imported/snapshots"),
            Map.entry("importedTrust(run)", "imported/runs/" + RUN + "/trusted"),
            Map.entry("index(run)", "replays/" + RUN + "/index"),
            Map.entry("ingestCertified", "keys/ingest.certified"),
            Map.entry("ingestLock", "ingest.lock"),
            Map.entry("ingestOpening", "ingest.opening.lock"),
            Map.entry("kafka", "kafka"),
            Map.entry("kept(run)", "replays/" + RUN + "/kept"),
            Map.entry("keys", "keys"),
            Map.entry("locks", "archive/locks"),
            Map.entry("log", "log"),
            Map.entry("logKey", "keys/log.pub"),
            Map.entry("machines", "vm"),
            Map.entry("payloadKey", "keys/payload.key"),
            Map.entry("pipelineAccess", "pipeline.properties"),
            Map.entry("pipelineLock", "pipeline.lock"),
            Map.entry("policy", "keys/policy"),
            Map.entry("qemu", "qemu"),
            Map.entry("quarantine", "quarantine"),
            Map.entry("quarantine(run)", "quarantine/" + RUN),
            Map.entry("replacedImages", "images/.replaced"),
            Map.entry("replays", "replays"),
            Map.entry("replays(run)", "replays/" + RUN),
            Map.entry("revoking", "keys/revoking"),
            Map.entry("root", ""),
            Map.entry("runKeys", "keys/runs"),
            Map.entry("runLock(run)", "runs/" + RUN + "/lock"),
            Map.entry("runs", "runs"),
            Map.entry("runs(run)", "runs/" + RUN),
            Map.entry("scratch", "scratch"),
            Map.entry("snapshots", "snapshots"),
            Map.entry("spool", "spool"),
            Map.entry("spool(run)", "spool/" + RUN),
            Map.entry("staging", "warehouse/blackbox/events/staging"),
            Map.entry("table", "warehouse/blackbox/events"),
            Map.entry("timeAuthorities", "keys/time"),
            Map.entry("treeCache(run)", "runs/" + RUN + "/log"),
            Map.entry("warehouse", "warehouse"),
            Map.entry("webhookSecret", "keys/webhook.secret"),
            Map.entry("witness", "witness"),
            Map.entry("workspaces", "workspaces"),
            Map.entry("workspaces(run)", "workspaces/" + RUN));

    @Test
    void everyNameIsWhatItAlwaysWas() throws IllegalAccessException, InvocationTargetException {
        var folder = new DataFolder(Path.of("data"));
        var names = new TreeMap<String, String>();
        for (Method method : DataFolder.class.getDeclaredMethods()) {
            if (method.getReturnType() == Path.class) {
                boolean ofRun = method.getParameterCount() == 1;
                Object path = ofRun ? method.invoke(folder, new RunId(RUN)) : method.invoke(folder);
                names.put(
                        method.getName() + (ofRun ? "(run)" : ""),
                        folder.root().relativize((Path) path).toString());
            }
        }
        assertEquals(new TreeMap<>(NAMES), names);
    }
}
