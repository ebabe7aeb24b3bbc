/// Pages for a browser. Their sources are TypeScript (`console/src/main/ts`); what is made of them is a
/// resource that is committed, and a test holds it to the sources (`docs/decisions/0282`).
@NullMarked
package blackbox.console;

import org.jspecify.annotations.NullMarked;
