package blackbox.query.brief;

import blackbox.query.answer.Touched;
import blackbox.query.brief.Notable.What;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Gathers what was refused, and which files with secrets were opened.
final class Notables {

    private static final int KEPT_MAX = 10_000;
    private static final long EPERM = -1;
    private static final long EACCES = -13;

    /// Files that hold passwords, keys or tokens by custom.
    private static final Pattern SECRETS = Pattern.compile(
            "/etc/(shadow|gshadow|sudoers)-?|.*/\\.ssh/(?!known_hosts|config)[^/]*|.*/id_(rsa|dsa|ecdsa|ed25519)"
                    + "|.*/\\.env(\\.[^/]*)?|.*/\\.(netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)"
                    + "|.*/\\.(aws|azure|kube|docker|gnupg)/.*|.*/\\.config/(gcloud|gh|hub)/.*"
                    + "|.*\\.(pem|key|p12|pfx|jks|keystore|kdbx)|/proc/[0-9]+/environ");

    private record Key(
            What what,
            String act,
            @Nullable String by,
            @Nullable String why) {}

    private final Map<Key, long[]> seen = new LinkedHashMap<>();
    private final Map<What, Integer> kept = new EnumMap<>(What.class);
    private long unkept;

    /// Takes what the agent did with a file.
    ///
    /// @param path absolute where that is known
    void see(FileView file, @Nullable String path, @Nullable String by, long index) {
        if (path == null) {
            return;
        }
        if (file.failed() && (file.ret() == EPERM || file.ret() == EACCES)) {
            add(new Key(What.REFUSED, verb(file) + " " + path, by, file.ret() == EPERM ? "EPERM" : "EACCES"), index);
        } else if (isTaken(file) && SECRETS.matcher(path).matches()) {
            add(new Key(What.SECRET, verb(file) + " " + path, by, null), index);
        }
    }

    /// Whether its content came to the process, or may have.
    private static boolean isTaken(FileView file) {
        return file.effects().contains(FileEffect.READS)
                || file instanceof FileView.Open open && !open.failed() && open.isForReading() && !open.created();
    }

    private static String verb(FileView file) {
        return switch (file) {
            case FileView.Open open -> open.isForWriting() ? "write" : "read";
            case FileView.Close _, FileView.Io _ -> "read";
            case FileView.Rename _ -> "rename";
            case FileView.Link _, FileView.Symlink _ -> "link";
            case FileView.Unlink _, FileView.Rmdir _ -> "delete";
            case FileView.Mkdir _, FileView.Mknod _ -> "create";
            case FileView.Chmod _ -> "change the mode of";
            case FileView.Chown _ -> "change the owner of";
            case FileView.Truncate _, FileView.Allocate _ -> "write";
            case FileView.Mmap _ -> "map";
        };
    }

    private void add(Key key, long index) {
        if (!seen.containsKey(key) && kept.merge(key.what, 1, Integer::sum) > KEPT_MAX) {
            unkept++;
            return;
        }
        seen.computeIfAbsent(key, _ -> new long[] {index, 0})[1]++;
    }

    /// All of them, what was refused first, with the uses of privileges.
    List<Notable> notables(List<Touched.PrivilegeUse> privileges) {
        var all = new ArrayList<Notable>();
        seen.forEach((key, at) -> all.add(new Notable(key.what, key.act, key.by, key.why, at[0], at[1])));
        for (Touched.PrivilegeUse use : privileges) {
            String subject = use.subject();
            all.add(new Notable(
                    use.refused() ? What.REFUSED : What.PRIVILEGE,
                    use.what() + (subject == null ? "" : " " + subject),
                    use.comm(),
                    null,
                    use.index(),
                    use.count()));
        }
        all.sort(Comparator.comparing(Notable::what).thenComparingLong(Notable::index));
        return all;
    }

    /// Acts that were not kept.
    long unkept() {
        return unkept;
    }
}
