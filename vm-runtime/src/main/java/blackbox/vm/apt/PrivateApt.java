package blackbox.vm.apt;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// apt on a state of its own in a scratch folder: it sees an empty system. One thread.
public final class PrivateApt {
    private static final Duration FETCH_TIMEOUT = Duration.ofMinutes(15);

    private final Path state;
    private final Path archives;

    private PrivateApt(Path state) {
        this.state = state;
        this.archives = state.resolve("cache/archives");
    }

    /// Sets up the state below `scratch` and fetches the lists.
    ///
    /// @param sources as in `sources.list`, see [AptSources]
    /// @throws VmException `MIRROR`; `TOOL_MISSING` on a machine without apt
    public static PrivateApt open(Path scratch, String sources, String architecture) throws VmException {
        Path state = scratch.resolve("apt");
        try {
            for (String folder : List.of("etc/preferences.d", "lists/partial", "cache/archives/partial")) {
                Files.createDirectories(state.resolve(folder));
            }
            Files.writeString(state.resolve("etc/sources.list"), sources);
            Files.createFile(state.resolve("status"));
            Files.writeString(state.resolve("apt.conf"), configuration(state, architecture));
        } catch (IOException e) {
            throw new VmException(Code.IO, "apt's state could not be set up in " + state, e);
        }
        var apt = new PrivateApt(state);
        apt.run("apt-get", "update", "-o", "APT::Update::Error-Mode=any");
        return apt;
    }

    /// Resolves `packages` with all that they depend on and fetches every one of them.
    ///
    /// @return the fetched files
    public List<Path> resolve(List<String> packages) throws VmException {
        var command = new ArrayList<>(List.of("apt-get", "-y", "--download-only", "install"));
        command.addAll(packages);
        run(command.toArray(String[]::new));
        return collect();
    }

    /// Fetches these and nothing else; each is `NAME`, `NAME=VERSION` or `NAME:ARCHITECTURE=VERSION`.
    ///
    /// @return the fetched files
    /// @throws VmException `MIRROR` when one of them is not there any more
    public List<Path> download(List<String> specifications) throws VmException {
        var command = new ArrayList<>(List.of("apt-get", "download"));
        command.addAll(specifications);
        run(command.toArray(String[]::new));
        return collect();
    }

    /// What the newest version of a package says of itself, as in `Packages`.
    public String show(String name) throws VmException {
        return run("apt-cache", "show", "--no-all-versions", name);
    }

    /// What has been fetched since the last time, moved aside.
    private List<Path> collect() throws VmException {
        try {
            Path taken = Files.createDirectories(state.resolve("taken"));
            var fetched = new ArrayList<Path>();
            try (Stream<Path> all = Files.list(archives)) {
                for (Path file :
                        all.filter(f -> f.toString().endsWith(".deb")).sorted().toList()) {
                    fetched.add(Files.move(file, taken.resolve(file.getFileName())));
                }
            }
            return fetched;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the fetched packages could not be moved", e);
        }
    }

    private String run(String... command) throws VmException {
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

    private static String configuration(Path state, String architecture) throws VmException {
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
        text.append("APT::Architecture \"").append(architecture).append("\";\n");
        text.append("APT::Architectures { \"").append(architecture).append("\"; };\n");
        text.append("APT::Install-Recommends \"false\";\nAPT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n");
        return text.toString();
    }
}
