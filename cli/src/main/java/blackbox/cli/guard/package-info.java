/// What keeps other processes of the same user out of this one, whose memory holds keys and what agents saw.
@NullMarked
package blackbox.cli.guard;

import org.jspecify.annotations.NullMarked;
