/// Answers that are made while they are sent.
@NullMarked
package blackbox.node.serve.stream;

import org.jspecify.annotations.NullMarked;
