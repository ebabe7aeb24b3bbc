/// What an installation finds in its data folder about whom to trust.
@NullMarked
package blackbox.node.data;

import org.jspecify.annotations.NullMarked;
