package blackbox.vm.image;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Fetches packages from the machine's mirror with apt, which checks the archive's signatures. apt runs on a state of
/// its own in a scratch folder: it sees an empty system, and the machine's own lists and caches are left alone.
final class AptMirror {
    private static final Path CONFIGURATION = Path.of("/etc/apt");
    private static final Duration FETCH_TIMEOUT = Duration.ofMinutes(15);
    private static final Pattern KERNEL = Pattern.compile("(?m)^Depends:.*?\\b(linux-(?:image|headers)-[0-9][^ ,]*)");
    private static final Pattern COMMON_HEADERS =
            Pattern.compile("(?m)^Depends:.*?\\b(linux-headers-[0-9][^ ,]*-common)");

    private final Path state;
    private final Path archives;

    private AptMirror(Path state) {
        this.state = state;
        this.archives = state.resolve("cache/archives");
    }

    /// Sets up apt's private state and fetches the lists.
    static AptMirror open(Path scratch, ImageDefinition definition, @Nullable String mirror) throws VmException {
        Path state = scratch.resolve("apt");
        try {
            for (String folder : List.of("etc/preferences.d", "lists/partial", "cache/archives/partial")) {
                Files.createDirectories(state.resolve(folder));
            }
            Files.writeString(
                    state.resolve("etc/sources.list"), AptSources.of(CONFIGURATION, definition.suite(), mirror));
            Files.createFile(state.resolve("status"));
            Files.writeString(state.resolve("apt.conf"), configuration(state, definition));
        } catch (IOException e) {
            throw new VmException(Code.IO, "apt's state could not be set up in " + state, e);
        }
        var apt = new AptMirror(state);
        apt.mirror("apt-get", "update", "-o", "APT::Update::Error-Mode=any");
        return apt;
    }

    /// Resolves the definition to today's packages and fetches them; returns each file with its use.
    List<Fetched> resolve(ImageDefinition definition) throws VmException {
        var install = new ArrayList<>(List.of("apt-get", "-y", "--download-only", "install", "?essential"));
        install.addAll(definition.packages());
        mirror(install.toArray(String[]::new));
        var fetched = new ArrayList<>(collect(PackageUse.ROOT));
        String kernel = dependency(definition.kernel(), KERNEL);
        String headers = dependency(definition.headers(), KERNEL);
        if (!kernel.replace("linux-image-", "").equals(headers.replace("linux-headers-", ""))) {
            throw new VmException(
                    Code.MIRROR, "the mirror has kernel " + kernel + " but " + headers + "; try again later");
        }
        download(List.of(kernel));
        fetched.addAll(collect(PackageUse.KERNEL));
        download(List.of(headers, dependency(headers, COMMON_HEADERS)));
        fetched.addAll(collect(PackageUse.HEADERS));
        return fetched;
    }

    /// Fetches exactly these versions.
    ///
    /// @throws VmException `MIRROR` when one of them is not there any more
    List<Fetched> fetch(List<LockedPackage> packages) throws VmException {
        download(packages.stream()
                .map(each -> each.name() + (each.architecture().equals("all") ? "" : ":" + each.architecture()) + "="
                        + each.version())
                .toList());
        return collect(PackageUse.ROOT);
    }

    /// A fetched file. When it was fetched by lock, its use is the lock's to say.
    record Fetched(Path file, PackageUse use) {}

    private void download(List<String> specifications) throws VmException {
        var command = new ArrayList<>(List.of("apt-get", "download"));
        command.addAll(specifications);
        mirror(command.toArray(String[]::new));
    }

    private String dependency(String of, Pattern form) throws VmException {
        var found = form.matcher(mirror("apt-cache", "show", "--no-all-versions", of));
        if (!found.find()) {
            throw new VmException(
                    Code.IMAGE_DEFINITION, "the package '" + of + "' does not depend on what was expected");
        }
        return found.group(1);
    }

    /// What has been fetched since the last time, moved aside.
    private List<Fetched> collect(PackageUse use) throws VmException {
        try {
            Path taken = Files.createDirectories(state.resolve("taken"));
            var fetched = new ArrayList<Fetched>();
            try (Stream<Path> all = Files.list(archives)) {
                for (Path file :
                        all.filter(f -> f.toString().endsWith(".deb")).sorted().toList()) {
                    fetched.add(new Fetched(Files.move(file, taken.resolve(file.getFileName())), use));
                }
            }
            return fetched;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the fetched packages could not be moved", e);
        }
    }

    private String mirror(String... command) throws VmException {
        try {
            return Command.of(command)
                    .in(archives)
                    .with("APT_CONFIG", state.resolve("apt.conf").toString())
                    .within(FETCH_TIMEOUT)
                    .run();
        } catch (VmException e) {
            if (e.code() == Code.TOOL_FAILED) {
                throw new VmException(Code.MIRROR, "the package mirror: " + e.getMessage(), e);
            }
            throw e;
        }
    }

    private static String configuration(Path state, ImageDefinition definition) throws VmException {
        var text = new StringBuilder();
        // How to reach a mirror (proxies, time-outs, what to make of dates) is the machine's business and stays.
        Command.of("apt-config", "dump")
                .run()
                .lines()
                .filter(line -> line.matches("Acquire::(http|https|Check|Retries|Max|ForceIPv).*"))
                .forEach(line -> text.append(line).append('\n'));
        text.append("Dir::Etc \"").append(state.resolve("etc")).append("\";\n");
        text.append("Dir::Etc::trusted \"/etc/apt/trusted.gpg\";\n");
        text.append("Dir::Etc::trustedparts \"/etc/apt/trusted.gpg.d\";\n");
        text.append("Dir::Etc::netrc \"/etc/apt/auth.conf\";\n");
        text.append("Dir::Etc::netrcparts \"/etc/apt/auth.conf.d\";\n");
        text.append("Dir::State \"").append(state).append("\";\n");
        text.append("Dir::State::status \"").append(state.resolve("status")).append("\";\n");
        text.append("Dir::Cache \"").append(state.resolve("cache")).append("\";\n");
        text.append("APT::Architecture \"").append(definition.architecture()).append("\";\n");
        text.append("APT::Architectures { \"").append(definition.architecture()).append("\"; };\n");
        text.append("APT::Install-Recommends \"false\";\nAPT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n");
        return text.toString();
    }
}
