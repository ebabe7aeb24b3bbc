package blackbox.replay.fs;

/// What an inode is.
public enum FileType {
    FILE(0100000, '-', "file"),
    FOLDER(0040000, 'd', "folder"),
    LINK(0120000, 'l', "link"),
    CHARACTER_DEVICE(0020000, 'c', "character-device"),
    BLOCK_DEVICE(0060000, 'b', "block-device"),
    PIPE(0010000, 'p', "pipe"),
    SOCKET(0140000, 's', "socket");

    private static final int MASK = 0170000;

    private final int bits;
    private final char letter;
    private final String word;

    FileType(int bits, char letter, String word) {
        this.bits = bits;
        this.letter = letter;
        this.word = word;
    }

    /// The type in a mode's upper bits.
    static FileType ofMode(int mode) throws DamagedTreeException {
        for (FileType type : values()) {
            if ((mode & MASK) == type.bits) {
                return type;
            }
        }
        throw new DamagedTreeException("an inode of no known type: mode " + Integer.toOctalString(mode));
    }

    /// As `ls -l` shows it.
    public char letter() {
        return letter;
    }

    /// As JSON shows it.
    public String word() {
        return word;
    }
}
