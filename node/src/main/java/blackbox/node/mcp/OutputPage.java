package blackbox.node.mcp;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.ReplayException;
import blackbox.replay.output.OutputJson;
import blackbox.replay.output.OutputReader;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A page of what a command printed.
final class OutputPage {
    private final RunId run;
    private final Answer.Page pieces;
    private final boolean live;
    private final long next;
    private final OutputReader.@Nullable Answer ended;

    private OutputPage(RunId run, Answer.Page pieces, boolean live, long next, OutputReader.@Nullable Answer ended) {
        this.run = run;
        this.pieces = pieces;
        this.live = live;
        this.next = next;
        this.ended = ended;
    }

    /// Reads a page.
    ///
    /// @param first the number of its first piece, from 0
    /// @param page without elements
    static OutputPage read(Recordings recordings, RunId run, Set<PrintedStream> streams, long first, Answer.Page page)
            throws QueryException, IOException {
        boolean live = recordings.isLive(run); // before the pieces: those of a run that ends meanwhile are not the last
        var taken = new Taken(first, page, live && streams.size() > 1);
        var answer = new OutputReader.@Nullable Answer[1];
        page.fill(() -> {
            try {
                answer[0] = new OutputReader(recordings, run, streams).read(null, taken);
            } catch (ReplayException e) {
                throw e.asQueryException();
            }
        });
        return new OutputPage(run, page, live, taken.next, taken.gap ? null : answer[0]);
    }

    /// Writes it as fields.
    void writeFields(JsonGenerator out) throws IOException {
        pieces.writeField(out, "pieces");
        if (ended == null || live) {
            out.writeNumberField("next", next);
        } else {
            out.writeNullField("next");
        }
        out.writeBooleanField("live", live);
        if (ended != null) {
            OutputJson.fields(out, run, ended);
        }
    }

    /// Takes pieces from one on.
    private static final class Taken implements OutputReader.Sink {
        private final Answer.Page page;
        private final boolean inTurn;
        private final Map<PrintedStream, Long> octets = new EnumMap<>(PrintedStream.class);
        private long turn;
        private long next;
        private boolean gap;

        /// @param inTurn whether a piece that is missing may still come, since one stream is sealed after
        ///     the other
        Taken(long first, Answer.Page page, boolean inTurn) {
            next = first;
            this.page = page;
            this.inTurn = inTurn;
        }

        @Override
        public void piece(OutputPiece piece) throws IOException {
            long octet = octets.merge(piece.stream(), (long) piece.bytes(), Long::sum) - piece.bytes();
            gap |= inTurn && piece.number() != turn;
            turn = piece.number() + 1;
            if (gap || piece.number() < next) {
                return;
            }
            next = piece.number();
            try {
                page.take(out -> OutputJson.piece(out, piece, octet));
            } catch (Answer.TooLongException _) {
                // Text of which each character becomes an escape of six.
                page.take(out -> OutputJson.encoded(out, piece, octet));
            }
            next++;
        }

        @Override
        public void idle() {}
    }
}
