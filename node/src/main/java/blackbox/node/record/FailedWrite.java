package blackbox.node.record;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;

/// Why a captured file could not be written, in words that are sealed: they name no path of the host.
final class FailedWrite {

    private FailedWrite() {}

    static String inWords(IOException failure) {
        String why = switch (failure) {
            case FileAlreadyExistsException _ -> "a file of that name was there before";
            case FileSystemException file when file.getReason() != null -> file.getReason();
            case FileSystemException file -> file.getClass().getSimpleName();
            default -> String.valueOf(failure.getMessage());
        };
        return "it could not be written: " + why;
    }
}
