/// Options and arguments that several commands take, as mixins for picocli, and the forms in which values are typed.
///
/// They read the command line, the environment and the files that it names, refuse what is wrong in one sentence,
/// and hand on values of the modules below. They know no command, and never print an answer.
@NullMarked
package blackbox.cli.options;

import org.jspecify.annotations.NullMarked;
