/// Events as readers see them: a typed view for each kind over the row that was read, without a copy.
///
/// The hierarchy is sealed, so a `switch` over an [EventView] has no `default`: the compiler leads whoever
/// adds a kind through every reader. Depends on rows and kinds; decides nothing about what a reader makes of
/// an event.
@NullMarked
package blackbox.schemas.view;

import org.jspecify.annotations.NullMarked;
