/// What an installation's data folder says: whom to trust, and where its data files are. Also shreds what is
/// stored beside a run's events.
///
/// It decides nothing about a run: `evidence` judges what is read here.
@NullMarked
package blackbox.node.data;

import org.jspecify.annotations.NullMarked;
