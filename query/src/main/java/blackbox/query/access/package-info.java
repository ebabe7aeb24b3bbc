/// Who asked the service what, as its own record has it.
@NullMarked
package blackbox.query.access;

import org.jspecify.annotations.NullMarked;
