package blackbox.vm.machine;

import java.nio.charset.StandardCharsets;

/// A terminal that an agent gets in place of pipes.
///
/// @param rows its height in characters
/// @param columns its width in characters
/// @param type its terminfo name, such as `xterm-256color`; the agent's variable TERM
public record Terminal(int rows, int columns, String type) {
    private static final int SIDE_MAX = 65_535;

    public Terminal {
        if (rows < 1 || rows > SIDE_MAX || columns < 1 || columns > SIDE_MAX) {
            throw new IllegalArgumentException("a terminal cannot have " + rows + " rows and " + columns + " columns");
        }
        if (!StandardCharsets.US_ASCII.newEncoder().canEncode(type) || type.isBlank() || type.length() > 64) {
            throw new IllegalArgumentException("'" + type + "' is not a terminal type");
        }
    }

    /// The same terminal with another size.
    public Terminal resized(int newRows, int newColumns) {
        return new Terminal(newRows, newColumns, type);
    }
}
