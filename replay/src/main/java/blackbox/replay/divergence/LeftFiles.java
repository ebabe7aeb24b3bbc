package blackbox.replay.divergence;

import blackbox.replay.ReplayException;
import blackbox.replay.content.OwnIds;
import blackbox.replay.divergence.strand.ProcessPairs;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Compares the files that two runs left behind.
@FunctionalInterface
public interface LeftFiles {

    /// It is not known what they left.
    LeftFiles UNKNOWN = _ -> null;

    /// Ids of git's objects in them that stand for each other: actual ones by recorded ones. To be called before
    /// [#compare].
    ///
    /// @throws ReplayException when what is here is not what was sealed, or cannot be read
    default Map<String, String> ids() throws IOException, ReplayException {
        return Map.of();
    }

    /// Ids of the actual side that stand for recorded ones, as is known from elsewhere.
    default OwnIds drawn() {
        return OwnIds.NONE;
    }

    /// Compares them.
    ///
    /// @return null if it is not known what one of them left
    /// @throws ReplayException when what is here is not what was sealed, or cannot be read
    @Nullable
    Result compare(StandIns names) throws IOException, ReplayException;

    /// Which made-up names, and which processes, stand for each other.
    @FunctionalInterface
    interface StandIns {
        /// Whether the last name of a path on the recorded side and that of one on the other side do.
        boolean standFor(Text recorded, Text actual);

        /// Which processes do; null if that is not known.
        default @Nullable ProcessPairs processes() {
            return null;
        }
    }

    /// The result.
    ///
    /// @param files how many agree
    /// @param bytes their content
    /// @param count how many differ
    /// @param differences the first of those, by path
    /// @param tied whether values or names stood for others, or databases are laid out otherwise
    record Result(long files, long bytes, long count, List<EffectDifference> differences, boolean tied) {
        public Result {
            differences = List.copyOf(differences);
        }
    }
}
