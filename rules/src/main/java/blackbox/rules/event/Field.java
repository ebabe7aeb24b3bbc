package blackbox.rules.event;

import blackbox.schemas.row.Column;

/// What a rule asks about an event.
public sealed interface Field {

    /// What no column has as it is.
    enum Derived implements Field {
        /// The program that the process runs.
        IMAGE,
        /// The arguments with which it was started, with a space between two.
        COMMAND_LINE,
        /// The same two of the process's parent.
        PARENT_IMAGE,
        PARENT_COMMAND_LINE,
        /// `root`, or the user's number.
        USER,
        /// The file that an act was on: where it led, of a rename or another name.
        TARGET_FILENAME,
        /// The name that led to the address of a connection, from the answers about names before it.
        DESTINATION_HOSTNAME,
        /// `true`: the guest began the connection.
        INITIATED
    }

    /// A column as it is: a number in decimal, a list with a space between two.
    record OfColumn(Column column) implements Field {}

    /// A value of the JSON object in the column `detail`.
    record OfDetail(String key) implements Field {}
}
