package blackbox.ingest.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.DuckRows;
import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.Traffic;
import blackbox.ingest.check.BatchCheck;
import blackbox.ingest.check.ChainState;
import blackbox.ingest.check.CheckResult;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.check.RunStates;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.EventsTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Several writers of one table, one after the other and at once, without a broker: which commits go through.
final class SharedTableTest {

    private static final String HERE = "test/topic/0";
    private static final String THERE = "test/topic/1";

    @TempDir
    Path folder;

    private DataFolder layout;
    private Traffic run;

    /// One member: what it has checked, and what it has committed.
    private final class Member implements AutoCloseable {

        private final EventTable table;
        private final TableStates states;
        private final TableWriter writer;
        private final BatchCheck check;
        private final String source;
        private final Map<RunId, ChainState> changed = new HashMap<>();

        Member(String source) throws IngestException {
            this(source, CommitStep.Observer.NONE);
        }

        Member(String source, CommitStep.Observer observer) throws IngestException {
            this.source = source;
            table = EventTable.openForGroup(layout, LocalStore.in(layout));
            states = TableRoundTripTest.states(layout);
            writer = new TableWriter(table, TableRoundTripTest.INGEST_KEY, new Random(source.hashCode()), observer);
            check = new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, states);
            writer.take(Set.of(source));
        }

        void accept(SealedBatch batch) throws IngestException {
            CheckResult.Accepted accepted = assertInstanceOf(
                    CheckResult.Accepted.class, check.check(batch.run().value(), batch.octets()));
            writer.append(batch);
            if (accepted.closes()) {
                changed.remove(batch.run());
                writer.complete(batch.run());
            } else {
                changed.put(batch.run(), accepted.after());
            }
        }

        ChainState refuse(SealedBatch batch) throws IngestException {
            CheckResult.Refused refused = assertInstanceOf(
                    CheckResult.Refused.class, check.check(batch.run().value(), batch.octets()));
            ChainState after = refused.after();
            assertNotNull(after);
            return after;
        }

        /// As when the broker says that its partition has become somebody else's.
        void lose() throws IngestException {
            writer.leaveAll();
            check.forget();
            changed.clear();
        }

        void commit(long offset) throws IngestException {
            writer.commit(new CommitState(Map.of(source, offset), changed));
            changed.clear();
        }

        @Override
        public void close() throws IngestException {
            writer.close();
            states.close();
            table.close();
        }
    }

    @BeforeEach
    void seal() throws Exception {
        layout = new DataFolder(folder);
        run = traffic(1);
    }

    private static Traffic traffic(long seed) throws Exception {
        var traffic = new Traffic(new Random(seed));
        for (int i = 0; i < 4; i++) {
            traffic.batch(10);
        }
        traffic.close();
        return traffic;
    }

    private SealedBatch batch(int number) {
        return run.batches().get(number);
    }

    private Map<String, Long> offsets() throws IngestException {
        EventTable table = EventTable.openForReading(layout);
        assertNotNull(table);
        try (table) {
            return table.state().offsets();
        }
    }

    private void assertOnce(Traffic... runs) throws Exception {
        EventTable table = EventTable.openForReading(layout);
        assertNotNull(table);
        try (table) {
            for (Traffic each : runs) {
                List<DataFileEntry> files = table.plan(each.run());
                TableRoundTripTest.assertRows(
                        each,
                        DuckRows.read(files.stream().map(DataFileEntry::path).toList()));
                assertEquals(
                        files.stream()
                                .flatMap(file -> Stream.of(
                                        file.name().toString(), file.name().sealName()))
                                .collect(Collectors.toCollection(TreeSet::new)),
                        stored(each.run()));
            }
        }
    }

    private Set<String> stored(RunId of) throws IOException {
        try (Stream<Path> files = Files.list(layout.dataFiles(of))) {
            return files.map(each -> each.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /// The zombie has checked the same batches, and comes to itself when the other has gone on.
    @Test
    void aZombiesCommitIsRefusedAndLeavesNothing() throws Exception {
        try (var zombie = new Member(HERE)) {
            zombie.accept(batch(0));
            zombie.commit(1);
            zombie.accept(batch(1));
            try (var heir = new Member(HERE)) {
                for (SealedBatch each : run.batches().subList(1, 3)) {
                    heir.accept(each);
                }
                heir.commit(3);
                Set<String> before = stored(run.run());
                var refused = assertThrows(IngestException.class, () -> zombie.commit(2));
                assertEquals(Code.SUPERSEDED, refused.code());
                assertEquals(before, stored(run.run()));
                for (SealedBatch each : run.batches().subList(3, 5)) {
                    heir.accept(each);
                }
                heir.commit(5);
            }
        }
        assertEquals(Map.of(HERE, 5L), offsets());
        assertOnce(run);
    }

    /// A record may be put into any partition, whatever its key: then offsets tell nothing.
    @Test
    void aRunThatArrivesByTwoPartitionsIsCommittedOnce() throws Exception {
        try (var one = new Member(HERE);
                var two = new Member(THERE)) {
            for (int i = 0; i < 5; i++) {
                one.accept(batch(i));
                two.accept(batch(i));
            }
            one.commit(5);
            var refused = assertThrows(IngestException.class, () -> two.commit(5));
            assertEquals(Code.SUPERSEDED, refused.code());
        }
        assertEquals(Map.of(HERE, 5L), offsets());
        assertOnce(run);
    }

    /// The same, and what the one that is behind commits before it goes on with the run has nothing to do with it.
    @Test
    void aRunThatTheOtherWentOnWithIsRefusedAfterAnUnrelatedCommit() throws Exception {
        try (var one = new Member(HERE)) {
            one.accept(batch(0));
            one.accept(batch(1));
            one.commit(2);
            try (var two = new Member(THERE)) {
                two.accept(batch(2));
                two.commit(1);
                one.accept(traffic(2).batches().getFirst());
                one.commit(3);
                one.accept(batch(2));
                var refused = assertThrows(IngestException.class, () -> one.commit(4));
                assertEquals(Code.SUPERSEDED, refused.code());
                two.accept(batch(3));
                two.accept(batch(4));
                two.commit(3);
            }
        }
        assertEquals(Map.of(HERE, 3L, THERE, 3L), offsets());
        assertOnce(run);
    }

    /// A finding of one that is behind does not take the place of what the other found later in the run.
    @Test
    void aMemberThatIsBehindErasesNoStop() throws Exception {
        try (var one = new Member(HERE);
                var two = new Member(THERE)) {
            one.accept(batch(0));
            one.commit(1);
            two.accept(batch(1));
            two.commit(1);
            ChainState later = two.refuse(batch(3));
            two.writer.commit(new CommitState(Map.of(THERE, 2L), Map.of(run.run(), later)));
            ChainState behind = one.refuse(batch(2));
            var refused = assertThrows(
                    IngestException.class,
                    () -> one.writer.commit(new CommitState(Map.of(HERE, 2L), Map.of(run.run(), behind))));
            assertEquals(Code.SUPERSEDED, refused.code());
            assertEquals(new RunStates.Open(later), standing());
        }
    }

    /// What is kept to merge small files has a gap where another member went on in between.
    @Test
    void whatIsKeptDoesNotOutliveAGap() throws Exception {
        try (var one = new Member(HERE);
                var two = new Member(THERE)) {
            one.accept(batch(0));
            one.commit(1);
            two.accept(batch(1));
            two.commit(1);
            one.writer.take(Set.of(HERE));
            one.check.forget();
            for (SealedBatch each : run.batches().subList(2, 5)) {
                one.accept(each);
                one.commit(each.sequence());
            }
        }
        assertOnce(run);
    }

    /// The broker gave its partition to somebody else, and gives it back before that one has done anything.
    @Test
    void whatWasDroppedIsAcceptedAgain() throws Exception {
        try (var member = new Member(HERE)) {
            for (SealedBatch each : run.batches()) {
                member.accept(each);
            }
            member.lose();
            member.writer.take(Set.of(HERE));
            for (SealedBatch each : run.batches()) {
                member.accept(each);
            }
            member.commit(5);
        }
        assertOnce(run);
    }

    @Test
    void aPartitionThatComesBackGoesOnWhereTheOtherLeftIt() throws Exception {
        try (var one = new Member(HERE)) {
            one.accept(batch(0));
            one.commit(1);
            one.accept(batch(1));
            one.lose();
            try (var two = new Member(HERE)) {
                for (SealedBatch each : run.batches().subList(1, 4)) {
                    two.accept(each);
                }
                two.commit(4);
            }
            assertEquals(Map.of(HERE, 4L), one.writer.take(Set.of(HERE)));
            one.accept(batch(4));
            one.commit(5);
        }
        assertOnce(run);
    }

    @Test
    void membersCarryOverWhereTheOthersStand() throws Exception {
        Traffic other = traffic(2);
        try (var one = new Member(HERE);
                var two = new Member(THERE)) {
            for (int i = 0; i < 5; i++) {
                one.accept(batch(i));
                one.commit(i + 1);
                two.accept(other.batches().get(i));
                two.commit(10L * (i + 1));
            }
        }
        assertEquals(Map.of(HERE, 5L, THERE, 50L), offsets());
        assertOnce(run, other);
    }

    /// Another's commit comes between the look at the table and the commit onto it.
    @Test
    void aCommitThatLosesTheRaceIsBuiltAgain() throws Exception {
        Traffic other = traffic(3);
        try (var two = new Member(THERE);
                var one = new Member(HERE, step -> {
                    if (step == CommitStep.FILES_RENAMED) {
                        unchecked(() -> {
                            two.accept(other.batches().getFirst());
                            two.commit(1);
                        });
                    }
                })) {
            one.accept(batch(0));
            one.commit(1);
        }
        assertEquals(Map.of(HERE, 1L, THERE, 1L), offsets());
    }

    private interface Failing {
        void run() throws Exception;
    }

    private static void unchecked(Failing step) {
        try {
            step.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /// Cut off at each step; its lock ends as with its process, and the member that lives on clears up.
    @Test
    void whatAMemberLeftIsFinishedOrRemovedByAnother() throws Exception {
        for (CommitStep last : CommitStep.values()) {
            layout = new DataFolder(folder.resolve(last.name()));
            try (var survivor = new Member(THERE)) {
                var killed = new Member(HERE, step -> {
                    if (step == last) {
                        throw new IllegalStateException("killed");
                    }
                });
                killed.accept(batch(0));
                killed.accept(batch(1));
                assertThrows(IngestException.class, () -> killed.commit(2));
                killed.table.close();
                survivor.table.clearUp();
                int at = Math.toIntExact(survivor.writer.take(Set.of(HERE)).getOrDefault(HERE, 0L));
                assertEquals(last.compareTo(CommitStep.COMMITTED) >= 0 ? 2 : 0, at, last.name());
                try (var heir = new Member(HERE)) {
                    for (int i = at; i < 5; i++) {
                        heir.accept(batch(i));
                    }
                    heir.commit(5);
                }
                assertEquals(1, members(), last.name());
            }
            assertOnce(run);
            assertEquals(0, members());
        }
    }

    /// The table was looked at before the other's commit, and its lock is taken after it.
    @Test
    void whatIsCommittedIsNotClearedUpFromAnOlderLookAtTheTable() throws Exception {
        try (var survivor = new Member(THERE)) {
            survivor.table.refresh();
            var killed = new Member(HERE, step -> {
                if (step == CommitStep.COMMITTED) {
                    throw new IllegalStateException("killed");
                }
            });
            run.batches().forEach(each -> unchecked(() -> killed.accept(each)));
            assertThrows(IngestException.class, () -> killed.commit(5));
            killed.table.close();
            survivor.table.finishLeft();
        }
        assertEquals(Map.of(HERE, 5L), offsets());
        assertOnce(run);
    }

    /// Then neither the table as it is nor ingest's last commit names the file.
    @Test
    void whatAnotherEngineTookOutAndOthersCommittedOntoIsNotClearedUp() throws Exception {
        try (var survivor = new Member(THERE)) {
            var killed = new Member(HERE, step -> {
                if (step == CommitStep.COMMITTED) {
                    throw new IllegalStateException("killed");
                }
            });
            killed.accept(batch(0));
            assertThrows(IngestException.class, () -> killed.commit(1));
            killed.table.close();
            RunStates.Standing before = standing();
            Set<String> there = stored(run.run());
            survivor.table.refresh();
            var delete = survivor.table.iceberg().newDelete();
            survivor.table.namedNow(run.run()).forEach(file -> delete.deleteFile(file.location()));
            delete.commit();
            survivor.accept(traffic(2).batches().getFirst());
            survivor.commit(1);
            assertEquals(Set.of(), survivor.table.ownFiles(Set.of(run.run())));
            assertEquals(before, standing());
            survivor.table.clearUp();
            assertEquals(there, stored(run.run()));
            assertEquals(before, standing());
        }
    }

    /// The snapshot of a commit whose intent is there says what became of it.
    @Test
    void anOldIntentIsFoundUntilItIsCleared() throws Exception {
        try (var member = new Member(HERE)) {
            Path intent = member.table.staging().resolve("intent");
            new CommitIntent(List.of("a"), List.of()).write(member.table.staging());
            Instant written = Files.getLastModifiedTime(intent).toInstant();
            assertFalse(Staging.isPendingSince(layout, written));
            assertTrue(Staging.isPendingSince(layout, written.plusNanos(1)));
            CommitIntent.remove(member.table.staging());
            assertFalse(Staging.isPendingSince(layout, Instant.MAX));
        }
    }

    /// Of two that leave, the second has gone when its turn comes, and another holds the first's folder.
    @Test
    void aMemberThatLeavesMeanwhileIsNoFailure() throws Exception {
        Staging.alone(layout);
        for (String token : List.of("one", "two")) {
            Objects.requireNonNull(Staging.ofMember(layout, token).lock()).close();
        }
        Staging.eachLeft(layout, _ -> {
            for (String token : List.of("one", "two")) {
                Path member = layout.staging().resolve("member-" + token);
                Files.deleteIfExists(member.resolve("lock"));
                Files.deleteIfExists(member);
            }
        });
        assertEquals(0, members());
        Staging leaving = Staging.ofMember(layout, "three");
        Files.createDirectory(leaving.folder().resolve("of somebody else"));
        leaving.close();
        assertEquals(1, members());
    }

    private long members() throws IOException {
        try (Stream<Path> left = Files.list(layout.staging())) {
            return left.count();
        }
    }

    @Test
    void aGroupAndAProcessAloneRefuseEachOther() throws Exception {
        try (var one = new Member(HERE);
                var two = new Member(THERE)) {
            assertNotNull(one.table.uuid());
            assertEquals(one.table.uuid(), two.table.uuid());
            var alone =
                    assertThrows(IngestException.class, () -> EventTable.openForWriting(layout, LocalStore.in(layout)));
            assertEquals(Code.IN_USE, alone.code());
            assertTrue(alone.toString().contains("as a group"), alone::toString);
        }
        try (EventTable alone = EventTable.openForWriting(layout, LocalStore.in(layout))) {
            assertNotNull(alone);
            var member = assertThrows(IngestException.class, () -> new Member(HERE));
            assertEquals(Code.IN_USE, member.code());
            assertTrue(member.toString().contains("by itself"), member::toString);
        }
    }

    private ChainState stopped() throws Exception {
        try (var member = new Member(HERE)) {
            member.accept(batch(0));
            member.commit(1);
            var refused = assertInstanceOf(
                    CheckResult.Refused.class, member.check.check(batch(2).run().value(), batch(2).octets()));
            ChainState after = refused.after();
            assertNotNull(after);
            member.writer.commit(new CommitState(Map.of(HERE, 2L), Map.of(run.run(), after)));
            return after;
        }
    }

    private RunStates.Standing standing() throws Exception {
        try (TableStates states = TableRoundTripTest.states(layout)) {
            return states.of(run.run());
        }
    }

    @Test
    void aRunThatWasStoppedAfterItsLastRowStaysStopped() throws Exception {
        assertEquals(new RunStates.Open(stopped()), standing());
    }

    /// Whoever may write to the warehouse, without ingest's key.
    @Test
    void aPlantedStateIsNotBelieved() throws Exception {
        ChainState stopped = stopped();
        Path note = layout.dataFiles(run.run()).resolve(EventsTable.STATE_NOTE);
        String genuine = Files.readString(note);
        var forged = new RunState(
                run.run(),
                new ChainState(stopped.nextIndex(), 7, stopped.previous(), stopped.frontier(), stopped.signer(), null));
        var open = assertInstanceOf(RunStates.Open.class, standingWithout(note));
        for (String planted : List.of(
                new String(forged.signedBy(Traffic.KEY), StandardCharsets.UTF_8),
                genuine.replace("GAP", "open"),
                genuine.replace(run.run().value(), traffic(9).run().value()),
                "",
                "no note\n")) {
            Files.writeString(note, planted);
            assertEquals(open, standing(), planted);
        }
        Files.writeString(note, genuine);
        assertEquals(new RunStates.Open(stopped), standing());
    }

    private RunStates.Standing standingWithout(Path note) throws Exception {
        Files.delete(note);
        return standing();
    }

    /// An altered footer breaks the file's seal: nothing more of the run is accepted, and nothing goes on from
    /// elsewhere.
    @Test
    void anAlteredFooterStopsTheRun() throws Exception {
        try (var member = new Member(HERE)) {
            member.accept(batch(0));
            member.accept(batch(1));
            member.commit(2);
        }
        Path file = layout.dataFiles(run.run())
                .resolve(stored(run.run()).stream()
                        .filter(name -> name.endsWith(".parquet"))
                        .findFirst()
                        .orElseThrow());
        byte[] octets = Files.readAllBytes(file);
        String text = new String(octets, StandardCharsets.ISO_8859_1);
        int at = text.indexOf(EventsTable.STATE_KEY) + EventsTable.STATE_KEY.length() + "..open 2".length();
        octets[at] ^= 1;
        Files.write(file, octets);
        try (var member = new Member(HERE)) {
            var refused = assertInstanceOf(
                    CheckResult.Refused.class, member.check.check(batch(2).run().value(), batch(2).octets()));
            assertEquals("STOPPED", refused.reason().name());
            assertTrue(refused.what().contains("TABLE"), refused.what());
        }
    }

    /// A file that nobody committed, under a name that would come last.
    @Test
    void aPlantedFileChangesNothing() throws Exception {
        try (var member = new Member(HERE)) {
            member.accept(batch(0));
            member.commit(1);
        }
        RunStates.Standing before = standing();
        Path planted = layout.dataFiles(run.run()).resolve("0000000000000000000-0000000000000009999-00000000.parquet");
        Files.writeString(planted, "rows");
        Files.writeString(planted.resolveSibling(planted.getFileName() + ".seal"), "seal");
        assertEquals(before, standing());
    }
}
