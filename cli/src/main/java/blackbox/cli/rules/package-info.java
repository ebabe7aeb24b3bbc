/// `blackbox rules`: detection rules, and what they find.
@NullMarked
package blackbox.cli.rules;

import org.jspecify.annotations.NullMarked;
