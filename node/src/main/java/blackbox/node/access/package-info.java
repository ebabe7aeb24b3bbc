/// Who may ask the service what, and the record of who did.
@NullMarked
package blackbox.node.access;

import org.jspecify.annotations.NullMarked;
