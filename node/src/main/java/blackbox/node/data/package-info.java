/// What an installation's data folder says: whom to trust, and where its data files are; and how what is stored beside
/// a
/// run's events is shredded.
///
/// It decides nothing about a run: `evidence` reads what is here and believes it or does not.
@NullMarked
package blackbox.node.data;

import org.jspecify.annotations.NullMarked;
