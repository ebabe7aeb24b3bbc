/// What a run's agent did, as an auditor asks for it: on one screen, the most important first.
@NullMarked
package blackbox.query.brief;

import org.jspecify.annotations.NullMarked;
