package blackbox.vault.parcel;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A file of a parcel, as its manifest declares it.
///
/// @param name its path, with `/`, which leads nowhere but below the folder that it is put in
/// @param bytes its length; 0 for a link
/// @param executable whether it is a program
/// @param link where it leads if it is a symbolic link, relative to where it is, else null
public record ParcelPart(
        String name,
        long bytes,
        boolean executable,
        @Nullable String link) {

    /// The longest name or link, in characters.
    public static final int NAME_CHARACTERS_MAX = 240;

    /// The longest part, in octets: 1 TiB.
    public static final long BYTES_MAX = 1L << 40;

    private static final String CHARACTERS = "[A-Za-z0-9._=+@:,~%-]+";
    private static final Pattern NAME = Pattern.compile(CHARACTERS + "(/" + CHARACTERS + ")*");
    private static final Pattern DOTS = Pattern.compile("(^|.*/)\\.\\.?(/.*|$)");

    public ParcelPart {
        if (!isName(name)) {
            throw new IllegalArgumentException("a part has a name that none can have");
        }
        if (bytes < 0 || bytes > BYTES_MAX || link != null && (bytes != 0 || executable || !staysBelow(name, link))) {
            throw new IllegalArgumentException("the part " + name + " cannot be what it is said to be");
        }
    }

    /// A file that is no program.
    public static ParcelPart file(String name, long bytes) {
        return new ParcelPart(name, bytes, false, null);
    }

    /// Whether a part may have this name: a path that cannot lead outside of the folder that it is put in.
    public static boolean isName(String name) {
        return name.length() <= NAME_CHARACTERS_MAX
                && NAME.matcher(name).matches()
                && !DOTS.matcher(name).matches();
    }

    /// Whether a link from there leads to a place below the first folder of its name, whatever else is there.
    private static boolean staysBelow(String name, String link) {
        if (link.length() > NAME_CHARACTERS_MAX || !NAME.matcher(link).matches()) {
            return false; // absolute, or with odd characters
        }
        int depth = name.split("/", -1).length - 2;
        boolean down = false;
        for (String step : link.split("/", -1)) {
            if (step.equals("..")) {
                depth--;
                if (down || depth < 0) {
                    return false;
                }
            } else {
                down = true;
            }
        }
        return true;
    }

    /// The first folder of its name, by which sizes are added up; the name itself if it is in none.
    public String group() {
        int slash = name.indexOf('/');
        return slash < 0 ? name : name.substring(0, slash);
    }
}
