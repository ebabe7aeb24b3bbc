package blackbox.node.alert;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Alerts on their way to webhooks, a file each until the receiver has taken it, for each receiver in the order
/// in which they were made. One process of a data folder sends at a time; what it does not get to, the next one
/// sends. A receiver may get an alert twice, with the same id, if the process that sent it is killed before it
/// has noted the answer.
public final class Outbox implements AutoCloseable {
    private static final String SUFFIX = ".json";
    private static final String LOCK = "lock";
    private static final int OCTETS_MAX = 1 << 20;
    private static final int MARK_CHARS = 16;
    private static final Duration AGAIN_FIRST = Duration.ofSeconds(1);
    private static final Duration AGAIN_MAX = Duration.ofSeconds(60);

    /// How often is looked for what other processes put there, or left.
    private static final Duration POLL = Duration.ofSeconds(1);

    private static final JsonMapper JSON = new JsonMapper();

    private final Path folder;
    private final Path secret;
    private final Progress progress;
    private final Thread sender;
    private final Webhook webhook = new Webhook(InstantSource.system());

    /// Receivers that did not take an alert, by the mark in their alerts' names. Owned by the sender.
    private final Map<String, Trouble> troubles = new HashMap<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /// Guarded by `lock`, as what follows.
    private long puts;

    private boolean closing;

    /// What this process put there and was not sent when it last looked.
    private final Set<Path> own = new HashSet<>();

    /// Whether all was sent when it last looked.
    private boolean idle;

    /// @param againNs when it is tried again, by [System#nanoTime]
    private record Trouble(String what, Duration pause, long againNs) {}

    /// An alert in a file.
    ///
    /// @param body what is posted
    private record Waiting(URI to, String id, String body) {}

    private Outbox(DataFolder data, Progress progress) {
        this.folder = data.alerts();
        this.secret = data.webhookSecret();
        this.progress = progress;
        this.sender = Thread.ofPlatform().daemon().name("alerts").unstarted(this::send);
    }

    /// Begins to send what is there and what comes. As long as there is nothing, nothing is written.
    public static Outbox open(DataFolder data, Progress progress) {
        var outbox = new Outbox(data, progress);
        outbox.sender.start();
        return outbox;
    }

    /// Takes an alert: once this returns it is durable, and will be sent.
    public void put(URI to, Alert alert) throws IOException {
        Folders.createPrivate(folder);
        String name = "%020d-%s-%020d-%s%s".formatted(alert.atNs(), alert.run(), alert.index(), mark(to), SUFFIX);
        String text = JSON.createObjectNode()
                .put("to", to.toString())
                .put("id", alert.id())
                .put("body", alert.toJson())
                .toString();
        Path file = folder.resolve(name);
        AtomicFiles.onDisk().replace(file, text.getBytes(StandardCharsets.UTF_8));
        lock.lock();
        try {
            puts++;
            own.add(file);
            idle = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// How many alerts of a data folder were not sent yet.
    public static long waiting(DataFolder data) throws IOException {
        return waiting(data.alerts()).size();
    }

    private List<Path> waiting() throws IOException {
        return waiting(folder);
    }

    private static List<Path> waiting(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().endsWith(SUFFIX)
                            && !file.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    /// Alerts with the same mark go to the same receiver.
    private static String mark(URI to) {
        return Hash.sha256(to.toString().getBytes(StandardCharsets.UTF_8))
                .toString()
                .substring(0, MARK_CHARS);
    }

    private static String mark(Path file) {
        String name = file.getFileName().toString();
        int end = name.length() - SUFFIX.length();
        return name.substring(Math.max(0, end - MARK_CHARS), end);
    }

    private void send() {
        ProcessLock mine = null;
        try {
            String said = "";
            boolean goesOn = true;
            while (goesOn) {
                long seen = puts();
                boolean isSent = false;
                try {
                    List<Path> files = waiting();
                    mine = mine == null && !files.isEmpty() ? ProcessLock.tryTake(folder.resolve(LOCK)) : mine;
                    isSent = files.isEmpty() || mine != null && sendAll(files);
                    said = "";
                } catch (IOException e) {
                    String trouble = "alerts cannot be sent: " + e.getMessage();
                    if (!trouble.equals(said)) {
                        progress.say(trouble);
                    }
                    said = trouble;
                }
                goesOn = awaitNext(seen, isSent);
            }
        } catch (InterruptedException _) {
            // closed
        } finally {
            if (mine != null) {
                close(mine);
            }
        }
    }

    private void close(ProcessLock mine) {
        try {
            mine.close();
        } catch (IOException e) {
            progress.say("the lock on alerts was not given back: " + e.getMessage());
        }
    }

    private boolean isClosing() {
        lock.lock();
        try {
            return closing;
        } finally {
            lock.unlock();
        }
    }

    private long puts() {
        lock.lock();
        try {
            return puts;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the next alert, or until it is time to look.
    ///
    /// @param seen how many had come when was last looked
    /// @return whether to go on
    private boolean awaitNext(long seen, boolean isSent) throws InterruptedException {
        lock.lock();
        try {
            idle = isSent && puts == seen;
            changed.signalAll();
            long left = POLL.toNanos();
            while (!closing && left > 0 && puts == seen) {
                left = changed.awaitNanos(left);
            }
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    /// @return whether all are sent
    private boolean sendAll(List<Path> files) throws IOException, InterruptedException {
        boolean all = true;
        // Whoever did not take one alert does not get the next one before it.
        Set<String> waitedFor = new HashSet<>();
        troubles.forEach((mark, known) -> {
            if (known.againNs() - System.nanoTime() > 0) {
                waitedFor.add(mark);
            }
        });
        for (Path file : files) {
            if (waitedFor.contains(mark(file))) {
                all = false;
                continue;
            }
            Waiting next;
            String trouble;
            try {
                next = read(file);
                if (next == null) {
                    continue;
                }
                trouble = post(next);
            } catch (RuntimeException e) {
                AtomicFiles.rename(file, file.resolveSibling(file.getFileName() + ".bad"));
                progress.say(file + " is no alert (" + e.getMessage() + "), and is put aside as .bad");
                continue;
            }
            if (trouble != null && isClosing()) {
                return false; // the answer was not waited for
            }
            note(file, next, trouble);
            if (trouble == null) {
                AtomicFiles.delete(file);
            } else {
                all = false;
                waitedFor.add(mark(file));
            }
        }
        return all;
    }

    /// @return why it was not taken; null if it was
    private @Nullable String post(Waiting alert) throws IOException, InterruptedException {
        String given = Webhook.secret(secret, CryptoProvider.current().random());
        String receiver = "the webhook at " + HttpPoster.shown(alert.to());
        try {
            int status = webhook.post(alert.to(), given, alert.id(), alert.body());
            return status >= 200 && status <= 299 ? null : receiver + " answered " + status;
        } catch (IOException e) {
            return receiver + ": " + e.getMessage();
        }
    }

    private void note(Path file, Waiting alert, @Nullable String trouble) {
        Trouble known = troubles.get(mark(file));
        if (trouble == null) {
            if (known != null) {
                troubles.remove(mark(file));
                progress.say("the webhook at " + HttpPoster.shown(alert.to()) + " takes alerts again");
            }
            return;
        }
        if (known == null || !known.what().equals(trouble)) {
            progress.say(trouble + "; it is tried again");
        }
        Duration doubled = known == null ? AGAIN_FIRST : known.pause().multipliedBy(2);
        Duration wait = doubled.compareTo(AGAIN_MAX) < 0 ? doubled : AGAIN_MAX;
        troubles.put(mark(file), new Trouble(trouble, wait, System.nanoTime() + wait.toNanos()));
    }

    /// @return null if it is gone
    private static @Nullable Waiting read(Path file) throws IOException {
        byte[] octets = AtomicFiles.onDisk().read(file, OCTETS_MAX);
        if (octets == null) {
            return null;
        }
        try {
            JsonNode node = JSON.readTree(octets);
            return new Waiting(
                    HttpPoster.confidential(node.path("to").asText(), "alerts"),
                    node.path("id").asText(),
                    node.path("body").asText());
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON", e);
        }
    }

    /// Waits until what this process put there is sent, but no longer than that, and ends.
    ///
    /// @return how many of them are left, which the next process sends
    public int finish(Duration patience) throws InterruptedException {
        lock.lock();
        try {
            long left = patience.toNanos();
            own.removeIf(file -> !Files.exists(file));
            while (!own.isEmpty() && left > 0) {
                left = changed.awaitNanos(left);
                own.removeIf(file -> !Files.exists(file));
            }
        } finally {
            lock.unlock();
        }
        close();
        own.removeIf(file -> !Files.exists(file));
        return own.size();
    }

    /// The same, of all that is there.
    public int finishAll(Duration patience) throws IOException, InterruptedException {
        lock.lock();
        try {
            long left = patience.toNanos();
            while (!idle && left > 0) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
        close();
        return waiting().size();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        webhook.close();
        try {
            boolean _ = sender.join(Duration.ofNanos(TimeUnit.SECONDS.toNanos(5)));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
