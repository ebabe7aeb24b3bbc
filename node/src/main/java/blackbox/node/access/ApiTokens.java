package blackbox.node.access;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The tokens of a data folder's API: its own, and those that were made for others, of which a file has the
/// digests. The file is read again whenever it has changed. While it cannot be used, only the folder's own
/// token is valid.
public final class ApiTokens {
    /// The subject of the folder's own token.
    public static final String OWNER = "owner";

    /// What stands for a token where it must not stand.
    static final String REDACTED = "(a token)";

    private static final Pattern TOKEN = Pattern.compile("bbx_[0-9a-f]{8}_[A-Za-z0-9_-]{16,}");
    private static final String PREFIX = "bbx_";
    private static final String OWN_ID = "api-token";
    private static final int ID_BYTES = 4;
    private static final int RUNS_MAX = 50;
    private static final int GRANTS_MAX = 10_000;
    private static final int VERSION = 1;
    private static final int LOGINS_MAX = GRANTS_MAX / 2;
    private static final int LOGINS_OF_ONE_MAX = 5;
    private static final JsonMapper JSON = new JsonMapper();

    private final Path file;
    private final ApiToken own;
    private final InstantSource clock;
    private final Progress progress;
    private Known known = new Known(null, List.of());

    /// What the file had when it looked like this; no stamp if there was none.
    private record Known(@Nullable FileStamp stamp, List<Grant> grants) {}

    /// A new token, which is shown once.
    public record Made(Grant grant, String token) {}

    /// @param progress is told why the file cannot be used
    public ApiTokens(DataFolder data, ApiToken own, InstantSource clock, Progress progress) {
        this.file = data.apiTokens();
        this.own = own;
        this.clock = clock;
        this.progress = progress;
    }

    /// Who shows a token; null if it is none that is valid now.
    ///
    /// @param authorization the header, or null
    public @Nullable Caller recognise(@Nullable String authorization) {
        String token = authorization == null ? null : bearer(authorization);
        if (token == null) {
            return null;
        }
        if (own.is(token)) {
            return new Caller(OWNER, Role.ADMIN, OWN_ID, null);
        }
        byte[] digest = Hash.sha256(token.getBytes(StandardCharsets.UTF_8)).toBytes();
        Instant now = clock.instant();
        return grants().stream()
                .filter(each -> MessageDigest.isEqual(each.digest().toBytes(), digest) && each.isValid(now))
                .findFirst()
                .map(Grant::caller)
                .orElse(null);
    }

    private static @Nullable String bearer(String header) {
        int space = header.indexOf(' ');
        boolean bearer = space > 0 && header.substring(0, space).equalsIgnoreCase("Bearer");
        return bearer ? header.substring(space + 1).strip() : null;
    }

    /// The tokens for others that there are now.
    public synchronized List<Grant> grants() {
        FileStamp stamp = null;
        try {
            stamp = FileStamp.of(file);
            if (!Objects.equals(stamp, known.stamp())) {
                known = new Known(stamp, read(file));
            }
        } catch (IOException e) {
            progress.say("no token but the data folder's own is valid: " + e.getMessage());
            known = new Known(stamp, List.of());
        }
        return known.grants();
    }

    /// The text without any token in it.
    String redact(String text) {
        return own.redact(TOKEN.matcher(text).replaceAll(REDACTED));
    }

    /// The tokens in a data folder, in the order in which they were made.
    ///
    /// @throws IOException if the file cannot be used
    public static List<Grant> list(DataFolder data) throws IOException {
        return read(data.apiTokens());
    }

    private static List<Grant> read(Path file) throws IOException {
        try {
            FileStamp.requireOwnerOnly(file);
            JsonNode all = JSON.readTree(Files.readAllBytes(file));
            if (all.path("version").asInt() != VERSION || all.path("tokens").size() > GRANTS_MAX) {
                throw new IOException(file + " is of another version, or has too many tokens");
            }
            var grants = new ArrayList<Grant>();
            for (JsonNode each : all.path("tokens")) {
                grants.add(Grant.of(each));
            }
            return List.copyOf(grants);
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new IOException(file + " is no list of tokens", e);
        }
    }

    /// Makes a token.
    ///
    /// @param runs the only ones that it is for; null if it is for all
    /// @param lifetime null if it does not expire
    /// @throws IllegalArgumentException if the subject cannot be one, or the runs are too many
    /// @throws IOException if it cannot be kept
    public static Made create(
            DataFolder data, String subject, Role role, @Nullable Set<RunId> runs, @Nullable Duration lifetime)
            throws IOException {
        if (runs != null && runs.size() > RUNS_MAX) {
            throw new IllegalArgumentException("a token is for at most " + RUNS_MAX + " runs, or for all");
        }
        return make(data, subject, role, runs, lifetime, null);
    }

    /// Makes a token for somebody who has logged in. Those of logins that are over are forgotten, and the oldest of
    /// the same person beyond a few.
    ///
    /// @param issuer which identity provider says who it is
    /// @throws IllegalArgumentException if the subject cannot be one, or is that of a token that was made here
    /// @throws IOException if it cannot be kept
    public static Made login(DataFolder data, String subject, Role role, Duration lifetime, String issuer)
            throws IOException {
        return make(data, subject, role, null, lifetime, issuer);
    }

    private static Made make(
            DataFolder data,
            String subject,
            Role role,
            @Nullable Set<RunId> runs,
            @Nullable Duration lifetime,
            @Nullable String issuer)
            throws IOException {
        SecureRandom random = CryptoProvider.current().random();
        var id = new byte[ID_BYTES];
        random.nextBytes(id);
        String name = HexFormat.of().formatHex(id);
        String token = PREFIX + name + "_" + ApiToken.fresh(random);
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        var grant = new Grant(
                name,
                subject,
                role,
                Hash.sha256(token.getBytes(StandardCharsets.UTF_8)),
                runs,
                now,
                lifetime == null ? null : now.plus(lifetime),
                null,
                issuer);
        change(data, grants -> {
            if (issuer != null) {
                makeRoom(grants, grant, now);
            }
            grants.add(grant);
        });
        return new Made(grant, token);
    }

    private static void makeRoom(List<Grant> grants, Grant login, Instant now) {
        if (grants.stream()
                .anyMatch(
                        each -> each.issuer() == null && each.subject().equals(login.subject()) && each.isValid(now))) {
            throw new IllegalArgumentException(
                    "'" + login.subject() + "' is the subject of a token that was made for a program here");
        }
        grants.removeIf(each -> each.issuer() != null && !each.isValid(now));
        List<Grant> same = grants.stream()
                .filter(each -> Objects.equals(each.issuer(), login.issuer())
                        && each.subject().equals(login.subject()))
                .toList();
        if (same.size() >= LOGINS_OF_ONE_MAX) {
            grants.removeAll(same.subList(0, same.size() - LOGINS_OF_ONE_MAX + 1));
        }
        if (grants.stream().filter(each -> each.issuer() != null).count() >= LOGINS_MAX) {
            throw new IllegalStateException("too many people are logged in");
        }
    }

    /// Whether the token with an id can be used now.
    public boolean isValid(String id) {
        Instant now = clock.instant();
        return id.equals(OWN_ID) || grants().stream().anyMatch(each -> each.id().equals(id) && each.isValid(now));
    }

    /// Revokes the token with an id, or all of a subject; whoever uses one is refused from the next request on.
    ///
    /// @return those that are revoked by this
    /// @throws IOException if that cannot be kept
    public static List<Grant> revoke(DataFolder data, String said) throws IOException {
        var revoked = new ArrayList<Grant>();
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        change(
                data,
                grants -> grants.replaceAll(each -> {
                    boolean meant = each.id().equals(said.toLowerCase(Locale.ROOT))
                            || each.subject().equals(said);
                    if (!meant || each.revoked() != null) {
                        return each;
                    }
                    Grant ended = each.revoked(now);
                    revoked.add(ended);
                    return ended;
                }));
        return revoked;
    }

    private interface Change {
        void on(List<Grant> grants);
    }

    private static void change(DataFolder data, Change change) throws IOException {
        Path file = data.apiTokens();
        Files.createDirectories(data.root());
        try (ProcessLock _ = ProcessLock.take(file.resolveSibling(file.getFileName() + ".lock"))) {
            var grants = new ArrayList<>(read(file));
            change.on(grants);
            if (grants.size() > GRANTS_MAX) {
                throw new IOException("there are " + GRANTS_MAX + " tokens already");
            }
            ObjectNode all = JSON.createObjectNode().put("version", VERSION);
            var listed = all.putArray("tokens");
            grants.forEach(
                    each -> listed.add(each.toJson().put("sha256", each.digest().toString())));
            byte[] octets = (all.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8);
            AtomicFiles.onDisk().replace(file, octets, FileStamp.OWNER_ONLY);
        }
    }
}
