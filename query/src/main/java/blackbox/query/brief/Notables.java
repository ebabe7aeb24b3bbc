package blackbox.query.brief;

import blackbox.query.answer.FileAct;
import blackbox.query.answer.Touched;
import blackbox.query.brief.Notable.What;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Gathers which files with secrets were opened, and ranks that with what was refused and with uses of privileges.
final class Notables {

    private static final int KEPT_MAX = 10_000;

    /// Files that hold passwords, keys or tokens by custom.
    private static final Pattern SECRETS = Pattern.compile(
            "/etc/(shadow|gshadow|sudoers)-?|.*/\\.ssh/(?!known_hosts|config)[^/]*|.*/id_(rsa|dsa|ecdsa|ed25519)"
                    + "|.*/\\.env(\\.[^/]*)?|.*/\\.(netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)"
                    + "|.*/\\.(aws|azure|kube|docker|gnupg)/.*|.*/\\.config/(gcloud|gh|hub)/.*"
                    + "|.*\\.(pem|key|p12|pfx|jks|keystore|kdbx)|/proc/[0-9]+/environ");

    private record Key(String act, @Nullable String by) {}

    private final Map<Key, long[]> seen = new LinkedHashMap<>();
    private long unkept;

    /// Takes what the agent did with a file.
    ///
    /// @param path absolute where that is known
    void see(FileView file, @Nullable String path, @Nullable String by, long index) {
        if (path == null) {
            return;
        }
        if (isTaken(file) && SECRETS.matcher(path).matches()) {
            add(new Key(FileAct.of(file) + " " + path, by), index);
        }
    }

    /// Whether its content came to the process, or may have.
    private static boolean isTaken(FileView file) {
        return file.effects().contains(FileEffect.READS)
                || file instanceof FileView.Open open && !open.failed() && open.isForReading() && !open.created();
    }

    private void add(Key key, long index) {
        if (!seen.containsKey(key) && seen.size() >= KEPT_MAX) {
            unkept++;
            return;
        }
        seen.computeIfAbsent(key, _ -> new long[] {index, 0})[1]++;
    }

    /// All of them, what was refused first, with the uses of privileges.
    ///
    /// @param agents what the agent touched
    /// @param isHarmless of paths of files with which nothing can be done that matters
    List<Notable> notables(Touched agents, Predicate<String> isHarmless) {
        var all = new ArrayList<Notable>();
        for (Touched.FileRefusal each : agents.refused()) {
            if (!isHarmless.test(each.path())) {
                String act = each.act() + " " + each.path();
                all.add(new Notable(What.REFUSED, act, each.by(), each.error(), each.index(), each.count()));
            }
        }
        seen.forEach((key, at) -> all.add(new Notable(What.SECRET, key.act, key.by, null, at[0], at[1])));
        for (Touched.PrivilegeUse use : agents.privileges()) {
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
