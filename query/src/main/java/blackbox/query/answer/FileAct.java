package blackbox.query.answer;

import blackbox.schemas.view.FileView;

/// What was to be done with a file, in words.
public final class FileAct {

    private FileAct() {}

    /// The words before the file's name.
    public static String of(FileView file) {
        return switch (file) {
            case FileView.Open open -> open.isForWriting() ? "write" : "read";
            case FileView.Close _, FileView.Io _ -> "read";
            case FileView.Rename _ -> "rename";
            case FileView.Link _, FileView.Symlink _ -> "link";
            case FileView.Unlink _, FileView.Rmdir _ -> "delete";
            case FileView.Mkdir _, FileView.Mknod _ -> "create";
            case FileView.Chmod _ -> "change the mode of";
            case FileView.Chown _ -> "change the owner of";
            case FileView.Utime _ -> "set the times of";
            case FileView.Xattr _, FileView.Chattr _ -> "change an attribute of";
            case FileView.Truncate _, FileView.Allocate _ -> "write";
            case FileView.Mmap _ -> "map";
        };
    }
}
