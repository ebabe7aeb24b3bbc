package blackbox.query.ocsf;

import blackbox.query.answer.Programs;
import blackbox.query.ocsf.OcsfClass.Activity;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import org.jspecify.annotations.Nullable;

/// What was done to files as OCSF has it.
final class FileEvents {

    private static final Activity CREATE = new Activity(1, "Create");
    private static final Activity READ = new Activity(2, "Read");
    private static final Activity UPDATE = new Activity(3, "Update");
    private static final Activity DELETE = new Activity(4, "Delete");
    private static final Activity RENAME = new Activity(5, "Rename");
    private static final Activity SET_ATTRIBUTES = new Activity(6, "Set Attributes");
    private static final Activity SET_SECURITY = new Activity(7, "Set Security");
    private static final Activity OPEN = new Activity(14, "Open");

    private static final int UNKNOWN = 0;
    private static final int FOLDER = 2;
    private static final int SYMBOLIC_LINK = 7;

    private FileEvents() {}

    static Draft draft(FileView event, ProcessObjects processes) {
        Fields fields = new Fields().put("actor", processes.actor(event));
        switch (event) {
            case FileView.Link link ->
                fields.put("file", file(link.pathTo(), UNKNOWN)); // the other name does not change
            case FileView.Rename rename -> {
                fields.put("file", file(rename.path(), UNKNOWN));
                fields.put("file_result", file(rename.pathTo(), UNKNOWN));
            }
            default -> fields.put("file", file(event.path(), type(event)));
        }
        return Draft.of(OcsfClass.FILE, activity(event), fields);
    }

    /// What the call was for; whether it failed is in `status_id`.
    private static Activity activity(FileView event) {
        return switch (event) {
            case FileView.Open open ->
                open.created() ? CREATE : open.effects().contains(FileEffect.TRUNCATES) ? UPDATE : OPEN;
            case FileView.Close _ -> Activity.other("Close");
            case FileView.Io io ->
                io.failed() || io.effects().contains(FileEffect.WRITES) ? UPDATE : READ; // only writes fail
            case FileView.Rename _ -> RENAME;
            case FileView.Link _, FileView.Symlink _, FileView.Mkdir _, FileView.Mknod _ -> CREATE;
            case FileView.Unlink _, FileView.Rmdir _ -> DELETE;
            case FileView.Chmod _, FileView.Chown _ -> SET_SECURITY;
            case FileView.Xattr xattr -> isOfSecurity(xattr) ? SET_SECURITY : SET_ATTRIBUTES;
            case FileView.Utime _, FileView.Chattr _ -> SET_ATTRIBUTES;
            case FileView.Truncate _, FileView.Allocate _ -> UPDATE;
            case FileView.Mmap _ -> Activity.other("Map Writable");
        };
    }

    /// Capabilities, labels and access control lists.
    private static boolean isOfSecurity(FileView.Xattr event) {
        String name =
                event.row().has(Column.WHAT) ? event.row().text(Column.WHAT).toString() : "";
        return name.startsWith("security.") || name.startsWith("system.posix_acl");
    }

    private static int type(FileView event) {
        return switch (event) {
            case FileView.Mkdir _, FileView.Rmdir _ -> FOLDER;
            case FileView.Symlink _ -> SYMBOLIC_LINK;
            default -> UNKNOWN;
        };
    }

    /// @param path null if it is not known, as `unread` then says
    private static Fields file(@Nullable Text path, int type) {
        return new Fields()
                .put("name", path == null ? "" : Programs.lastName(path))
                .put("path", path)
                .put("type_id", type);
    }
}
