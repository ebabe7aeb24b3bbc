package blackbox.vm.host;

import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentCommand.AgentUser;
import blackbox.vm.machine.GuestMessage;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.machine.VmRequest.Start;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A real image and a real QEMU for the tests: built on first use, about two minutes, in a folder that
/// outlives them. The image carries no tracer, so its snapshot is made in seconds.
record TestHost(Path data, QemuHost host, GuestImage image) {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    static synchronized TestHost open() throws VmException {
        try {
            return opened();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TestHost opened() throws VmException, IOException {
        Path data = Path.of(System.getProperty("blackbox.test.data", "../target/test-data"))
                .toAbsolutePath()
                .normalize();
        var store = new ImageStore(data);
        var files = GuestFiles.with(Map.of());
        Folders.create(data);
        // Test classes run in two processes beside each other.
        try (ProcessLock _ = ProcessLock.take(data.resolve("test-lock"))) {
            if (store.list().stream().noneMatch(image -> image.name().equals("default"))) {
                new GuestImageBuilder(store, InstantSource.system(), TestHost::say)
                        .build(ImageDefinition.named("default"), files, LockPolicy.PREFER, null);
            }
            var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), TestHost::say);
            return new TestHost(data, host, store.open("default", files, TestHost::say));
        }
    }

    private static void say(String what) {
        System.err.println("vm test: " + what);
    }

    VmRequest request(Start start, Network network, @Nullable Path workspace) {
        return new VmRequest(image, MachineSize.DEFAULT, network, workspace, start);
    }

    QemuMachine start() throws VmException {
        return start(Network.NONE, null);
    }

    QemuMachine start(Network network, @Nullable Path workspace) throws VmException {
        return read(host.start(request(Start.WARM, network, workspace), event -> {}));
    }

    /// Reads what nobody looks at, as an owner must.
    static QemuMachine read(QemuMachine machine) {
        for (InputStream stream : List.of(machine.events(), machine.framesOut(), machine.framesIn())) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    stream.transferTo(ByteArrayOutputStream.nullOutputStream());
                } catch (IOException e) {
                    say("a stream was cut"); // when a test kills its machine
                }
            });
        }
        return machine;
    }

    /// What an agent printed and how it ended.
    record Ran(String out, String error, GuestMessage.Exit exit) {}

    static Ran run(QemuMachine machine, AgentUser user, String input, String... argv) throws VmException {
        var out = new ByteArrayOutputStream();
        var error = new ByteArrayOutputStream();
        var in = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
        machine.startAgent(command(user, argv), in, out, error);
        var exit = machine.awaitExit(PATIENCE);
        return new Ran(out.toString(StandardCharsets.UTF_8), error.toString(StandardCharsets.UTF_8), exit);
    }

    static Ran run(QemuMachine machine, String script) throws VmException {
        return run(machine, AgentUser.AGENT, "", "sh", "-c", script);
    }

    static AgentCommand command(AgentUser user, String... argv) {
        var octets = Stream.of(argv)
                .map(each -> each.getBytes(StandardCharsets.UTF_8))
                .toList();
        return new AgentCommand(octets, List.of(), null, user);
    }
}
