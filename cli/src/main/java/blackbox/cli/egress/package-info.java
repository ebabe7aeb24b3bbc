/// The commands `blackbox egress …`: policies, validated, explained, held against recorded runs, and made from
/// them.
///
/// It reads files and prints; what a policy says is decided in `policy`, what runs did is gathered in `query`.
@NullMarked
package blackbox.cli.egress;

import org.jspecify.annotations.NullMarked;
