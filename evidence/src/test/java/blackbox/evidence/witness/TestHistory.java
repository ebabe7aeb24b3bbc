package blackbox.evidence.witness;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.log.TreeProver;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// One history of a log: leaves that depend on its number, and what the log would sign and prove of them.
public final class TestHistory {

    private final NoteSigner key;
    private final List<Hash> leaves = new ArrayList<>();
    private final TreeHasher hasher = new TreeHasher();
    private final TreeProver prover = new TreeProver(this::subtree);

    /// @param key the log's; its name is the origin
    public TestHistory(int number, int size, NoteSigner key) {
        this.key = key;
        for (int i = 0; i < size; i++) {
            leaves.add(hasher.leaf(("history " + number + ", leaf " + i).getBytes(StandardCharsets.UTF_8)));
        }
    }

    private Hash subtree(int level, long index) {
        return level == 0
                ? leaves.get(Math.toIntExact(index))
                : hasher.node(subtree(level - 1, 2 * index), subtree(level - 1, 2 * index + 1));
    }

    /// Makes this history's proofs.
    public TreeProver prover() {
        return prover;
    }

    public Checkpoint at(int size) {
        try {
            return new Checkpoint(key.verifier().name(), size, prover.root(size));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The checkpoint at `size` as the log signs it.
    public SignedNote note(int size) {
        return note(size, key);
    }

    public SignedNote note(int size, NoteSigner signer) {
        String text = at(size).text();
        return new SignedNote(text, List.of(SignedNote.Signature.of(signer, text)));
    }

    /// The request to cosign the checkpoint at `size`, with a proof from `oldSize`.
    public AddCheckpoint from(int oldSize, int size) {
        try {
            return AddCheckpoint.of(prover.consistency(oldSize, size), note(size));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
