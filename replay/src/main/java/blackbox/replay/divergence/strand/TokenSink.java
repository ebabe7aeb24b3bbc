package blackbox.replay.divergence.strand;

/// Takes one side's tokens, strand by strand in order, strands interleaved as they became known.
public interface TokenSink {

    void accept(Strand strand, Token token);

    /// Nothing more will come for that strand.
    void ended(Strand strand);
}
