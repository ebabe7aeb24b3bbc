package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.store.Recordings;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Enforces the structure that ARCHITECTURE.md promises: which module may depend on which, and where each
/// library may be imported. It is in this module because only the cli's class path has every module on it.
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("blackbox");

    /// A module (its package below `blackbox`) and the modules that its classes may use.
    private static final Map<String, Set<String>> MAY_USE = Map.ofEntries(
            Map.entry("schemas", Set.of()),
            Map.entry("gateway", Set.of("schemas")),
            Map.entry("files", Set.of()),
            Map.entry("policy", Set.of()),
            Map.entry("rules", Set.of("schemas", "policy")),
            Map.entry("calls", Set.of()),
            Map.entry("console", Set.of()),
            Map.entry("vault", Set.of("schemas", "files")),
            Map.entry("evidence", Set.of("schemas", "files")),
            Map.entry("recorder", Set.of("schemas", "files", "vault", "evidence")),
            Map.entry("vm", Set.of("schemas", "files")),
            Map.entry("ingest", Set.of("schemas", "files", "evidence")),
            Map.entry("query", Set.of("schemas", "evidence", "policy", "rules")),
            Map.entry("report", Set.of("schemas", "evidence", "recorder", "query")),
            Map.entry("replay", Set.of("schemas", "gateway", "files", "vault", "evidence", "recorder", "query", "vm")),
            Map.entry(
                    "node",
                    Set.of(
                            "schemas",
                            "gateway",
                            "files",
                            "policy",
                            "rules",
                            "calls",
                            "vault",
                            "evidence",
                            "recorder",
                            "vm",
                            "ingest",
                            "query",
                            "replay",
                            "console")),
            Map.entry(
                    "cli",
                    Set.of(
                            "schemas",
                            "gateway",
                            "files",
                            "policy",
                            "rules",
                            "calls",
                            "vault",
                            "evidence",
                            "recorder",
                            "vm",
                            "ingest",
                            "query",
                            "replay",
                            "report",
                            "node",
                            "console")));

    private static final Set<String> INSIDE = Set.of("blackbox.vm.process");

    /// What of vm-runtime belongs to no hypervisor: the port and what is beside it. Any other package of
    /// that module is one hypervisor's.
    private static final Set<String> ANY_HYPERVISOR = Set.of(
            "blackbox.vm",
            "blackbox.vm.apt",
            "blackbox.vm.carry",
            "blackbox.vm.confine",
            "blackbox.vm.define",
            "blackbox.vm.guest",
            "blackbox.vm.image",
            "blackbox.vm.machine",
            "blackbox.vm.npm",
            "blackbox.vm.seek",
            "blackbox.vm.workspace");

    /// Who may name a hypervisor: what chooses it and what examines it, and what executes the same instructions
    /// again, which only QEMU can.
    private static final Set<String> NAMES_HYPERVISOR = Set.of(
            "blackbox.node.doctor",
            "blackbox.node.machine",
            "blackbox.replay.exact",
            "blackbox.replay.inputs",
            "blackbox.replay.landing",
            "blackbox.replay.seek");

    /// A library and the modules that may import it, each from a single package of its own.
    private record Library(String name, Set<String> modules, List<String> packages) {
        boolean holds(JavaClass type) {
            return packages.stream().anyMatch(type.getPackageName()::startsWith);
        }
    }

    private static final List<Library> LIBRARIES = List.of(
            new Library("DuckDB", Set.of("query"), List.of("org.duckdb")),
            new Library("Iceberg", Set.of("ingest"), List.of("org.apache.iceberg")),
            new Library("Parquet", Set.of("ingest"), List.of("org.apache.parquet")),
            new Library("Kafka", Set.of("recorder", "ingest"), List.of("org.apache.kafka", "kafka.")),
            new Library("Micronaut", Set.of("node"), List.of("io.micronaut")),
            new Library("SnakeYAML Engine", Set.of("policy", "rules"), List.of("org.snakeyaml.engine")),
            new Library("Prometheus", Set.of("node"), List.of("io.prometheus")),
            new Library("Nimbus JOSE + JWT", Set.of("node"), List.of("com.nimbusds")),
            new Library("MCP SDK", Set.of("node"), List.of("io.modelcontextprotocol", "reactor.")),
            new Library("zstd", Set.of("ingest", "evidence", "vault", "calls"), List.of("com.github.luben")),
            new Library("Tink", Set.of(), List.of("com.google.crypto.tink")), // only the tests know it
            new Library("OpenTelemetry", Set.of(), List.of("io.opentelemetry")), // nor do others know that
            new Library("Commons Compress", Set.of("vm"), List.of("org.apache.commons.compress")),
            new Library("SLF4J", Set.of("cli"), List.of("org.slf4j", "ch.qos.logback")),
            new Library("JNA", Set.of("node", "vm"), List.of("com.sun.jna")),
            new Library(
                    "Bouncy Castle",
                    Set.of("evidence", "gateway", "recorder", "report", "vault"),
                    List.of("org.bouncycastle")),
            new Library("PDFBox", Set.of("report"), List.of("org.apache.pdfbox", "org.apache.fontbox")));

    @Test
    void everyModuleIsKnownHere() {
        Set<String> seen = CLASSES.stream().map(ArchitectureTest::moduleOf).collect(Collectors.toSet());
        assertEquals(MAY_USE.keySet(), seen);
    }

    @Test
    void modulesUseOnlyTheOnesBelowThem() {
        var wrong = new TreeSet<String>();
        for (JavaClass type : CLASSES) {
            for (Dependency use : type.getDirectDependenciesFromSelf()) {
                JavaClass target = use.getTargetClass();
                if (target.getPackageName().startsWith("blackbox") && !mayUse(moduleOf(type), moduleOf(target))) {
                    wrong.add(use.getDescription());
                }
            }
        }
        assertEquals(Set.of(), wrong);
    }

    /// What a module's own packages share stays inside the module.
    @Test
    void internalPackagesStayInternal() {
        var wrong = new TreeSet<String>();
        for (JavaClass type : CLASSES) {
            for (Dependency use : type.getDirectDependenciesFromSelf()) {
                String target = use.getTargetClass().getPackageName();
                if (INSIDE.contains(target) && !moduleOf(type).equals(moduleOf(use.getTargetClass()))) {
                    wrong.add(use.getDescription());
                }
            }
        }
        assertEquals(Set.of(), wrong);
        assertEquals(
                INSIDE,
                CLASSES.stream()
                        .map(JavaClass::getPackageName)
                        .filter(INSIDE::contains)
                        .collect(Collectors.toSet()));
    }

    /// A command asks for a recording, a replay or an image; which hypervisor runs the machine is decided in
    /// one place.
    @Test
    void fewNameTheHypervisor() {
        var names = new TreeSet<String>();
        for (JavaClass type : CLASSES) {
            for (Dependency use : type.getDirectDependenciesFromSelf()) {
                String target = use.getTargetClass().getPackageName();
                boolean ofExactTier = moduleOf(type).equals("node") && target.equals("blackbox.vm.replay");
                if (!Set.of("vm", "bench").contains(moduleOf(type))
                        && target.startsWith("blackbox.vm")
                        && !ANY_HYPERVISOR.contains(target)
                        && !ofExactTier) {
                    names.add(type.getPackageName());
                }
            }
        }
        assertEquals(new TreeSet<>(NAMES_HYPERVISOR), names);
    }

    @Test
    void packagesFormNoCycles() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass type : CLASSES) {
            Set<String> used = uses.computeIfAbsent(type.getPackageName(), _ -> new TreeSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(use -> use.getTargetClass().getPackageName())
                    .filter(name -> name.startsWith("blackbox") && !name.equals(type.getPackageName()))
                    .forEach(used::add);
        }
        // A package that uses none of the remaining ones is in no cycle.
        while (uses.values().removeIf(used -> used.stream().noneMatch(uses::containsKey))) {}
        assertEquals(Map.of(), uses, "packages that are in a cycle, or depend on one that is");
    }

    @Test
    void eachLibraryIsImportedByOnePackage() {
        for (Library library : LIBRARIES) {
            Map<String, Set<String>> importers = importersByModule(library);
            Set<String> strangers = new TreeSet<>(importers.keySet());
            strangers.removeAll(library.modules());
            assertEquals(Set.of(), strangers, () -> library.name() + " is imported by " + importers);
            importers.forEach((module, packages) ->
                    assertFalse(packages.size() > 1, () -> module + " imports " + library.name() + " in " + packages));
        }
    }

    /// Only code that reads a folder as it is (a bundle or a copy) may take the files in it for the data files.
    private static final Set<String> CHOOSE_A_STORE =
            Set.of("blackbox.evidence.store.Recordings", "blackbox.node.data.DataFiles");

    @Test
    void whereDataFilesAreIsChosenInOnePlace() {
        Set<String> choosers = CLASSES.stream()
                .filter(type -> !type.getPackageName().equals("blackbox.evidence.storage"))
                .filter(type -> type.getCodeUnitCallsFromSelf().stream()
                        .filter(call -> call.getTargetOwner().isEquivalentTo(LocalStore.class))
                        .anyMatch(call -> Set.of("<init>", "in").contains(call.getName())))
                .map(JavaClass::getName)
                .collect(Collectors.toSet());
        assertEquals(CHOOSE_A_STORE, choosers, "classes that choose where data files are");
        Set<String> byThemselves = CLASSES.stream()
                .filter(type -> !moduleOf(type).equals("evidence"))
                .filter(type -> type.getMethodCallsFromSelf().stream()
                        .filter(call -> call.getTargetOwner().isEquivalentTo(Recordings.class))
                        .anyMatch(call -> call.getName().equals("unchecked")
                                && call.getTarget().getRawParameterTypes().size() == 1))
                .map(JavaClass::getName)
                .collect(Collectors.toSet());
        assertEquals(Set.of(), byThemselves, "classes that bypass DataFiles to read a data folder's files");
    }

    /// Two classes of evidence: they write a cache that nobody trusts, and a file that its reader checks.
    /// Neither needs to be durable.
    private static final Set<String> RENAME_BY_THEMSELVES =
            Set.of("blackbox.evidence.bundle.BundleWriter", "blackbox.evidence.proof.TreeCache");

    @Test
    void filesAreReplacedInOnePlace() {
        Set<String> others = CLASSES.stream()
                .filter(type -> !moduleOf(type).equals("files"))
                .filter(type -> type.getFieldAccessesFromSelf().stream()
                        .anyMatch(use -> use.getTarget().getName().equals("ATOMIC_MOVE")))
                .map(JavaClass::getName)
                .collect(Collectors.toSet());
        assertEquals(RENAME_BY_THEMSELVES, others, "classes that rename files without AtomicFiles");
    }

    @Test
    void filesAreLockedInOnePlace() {
        Set<String> others = CLASSES.stream()
                .filter(type -> !moduleOf(type).equals("files"))
                .filter(type -> type.getMethodCallsFromSelf().stream()
                        .filter(call -> call.getTargetOwner().isAssignableTo(FileChannel.class))
                        .anyMatch(call -> Set.of("lock", "tryLock").contains(call.getName())))
                .map(JavaClass::getName)
                .collect(Collectors.toSet());
        assertEquals(Set.of(), others, "classes that lock files without ProcessLock");
    }

    /// Many packages of the gateway import it, for a channel of its own is what it is built on. Besides, it
    /// is what Micronaut's server runs on.
    @Test
    void nettyIsInTheGatewayAndUnderTheServer() {
        var netty = new Library("Netty", Set.of("gateway", "node"), List.of("io.netty"));
        Map<String, Set<String>> importers = importersByModule(netty);
        assertEquals(netty.modules(), importers.keySet());
        assertEquals(Set.of("blackbox.node.serve"), importers.get("node"));
    }

    private static Map<String, Set<String>> importersByModule(Library library) {
        Map<String, Set<String>> importers = new TreeMap<>();
        for (JavaClass type : CLASSES) {
            if (type.getDirectDependenciesFromSelf().stream().anyMatch(use -> library.holds(use.getTargetClass()))) {
                importers.computeIfAbsent(moduleOf(type), _ -> new TreeSet<>()).add(type.getPackageName());
            }
        }
        return importers;
    }

    private static boolean mayUse(String module, String other) {
        return module.equals(other) || MAY_USE.getOrDefault(module, Set.of()).contains(other);
    }

    private static String moduleOf(JavaClass type) {
        return type.getPackageName().split("\\.", -1)[1];
    }
}
