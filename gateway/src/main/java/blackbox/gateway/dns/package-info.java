/// Names: each that is allowed gets an address that stands for it, and nothing is resolved. So what a guest asks
/// reaches
/// nobody, and the address of a connection says which name it is for.
@NullMarked
package blackbox.gateway.dns;

import org.jspecify.annotations.NullMarked;
