package blackbox.schemas.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EventViewsTest {

    private final EventViews views = new EventViews();
    private final Row row = new Row();

    @Test
    void everyKindHasAViewOfItsOwn() {
        Set<Class<?>> seen = new HashSet<>();
        for (Kind kind : Kind.values()) {
            EventView view = views.of(row.clear().set(Column.KIND, kind.code()));
            assertEquals(kind, view.kind());
            assertTrue(seen.add(view.getClass()), kind + " shares " + view.getClass());
        }
    }

    @Test
    void aKindOfANewerVersionIsNotTakenForAnother() {
        var unknown = assertInstanceOf(EventView.Unknown.class, views.of(row.set(Column.KIND, 127)));
        assertEquals(127, unknown.code());
        assertNull(unknown.kind());
        assertInstanceOf(EventView.Unknown.class, views.of(row.clear()));
    }

    @Test
    void aViewShowsTheRowThatItWasPutOverLast() {
        var fork = (ProcessView.Fork) views.of(row.set(Column.KIND, Kind.PROCESS_FORK.code())
                .set(Column.PID, 7)
                .set(Column.START_NS, 70)
                .set(Column.PPID, 3)
                .set(Column.PARENT_START_NS, 30));
        assertEquals(new ProcessId(7, 70), fork.process());
        assertEquals(new ProcessId(3, 30), fork.parent());
        var other = new Row().set(Column.KIND, Kind.PROCESS_FORK.code()).set(Column.PID, 8);
        views.of(other);
        assertNull(fork.process());
        assertNull(fork.parent());
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            mode = EnumSource.Mode.MATCH_ANY,
            names = {"FILE_.*"})
    void aCallThatFailedHasNoEffectButForWhatWasFoldedBeforeIt(Kind kind) {
        row.set(Column.KIND, kind.code()).set(Column.CREATED, 1).set(Column.FLAGS, 01002);
        var failed = (FileView) views.of(row.set(Column.BYTES_WRITTEN, 4).set(Column.RET, -28));
        if (kind == Kind.FILE_IO) {
            assertEquals(EnumSet.of(FileEffect.OPENS, FileEffect.WRITES), failed.effects());
        } else {
            assertEquals(Set.of(), failed.effects());
            assertFalse(failed.mayChange());
        }
    }

    @Test
    void whatIsOpenedToBeWrittenMayChange() {
        row.set(Column.KIND, Kind.FILE_OPEN.code()).set(Column.RET, 3);
        assertFalse(((FileView) views.of(row.set(Column.FLAGS, 0))).mayChange());
        assertTrue(((FileView) views.of(row.set(Column.FLAGS, 2))).mayChange());
        assertFalse(((FileView) views.of(row.set(Column.FLAGS, 010000002))).mayChange());
    }

    @Test
    void aLinkLeavesItsSourceAndASymlinkItsTarget() {
        row.set(Column.KIND, Kind.FILE_LINK.code()).set(Column.PATH, "/a").set(Column.PATH_TO, "/b");
        var link = (FileView.ToName) views.of(row);
        assertEquals(Set.of(), link.effects());
        assertEquals(Set.of(FileEffect.CREATES), link.effectsThere());
        assertFalse(views.of(row.set(Column.KIND, Kind.FILE_SYMLINK.code())) instanceof FileView.ToName);
    }
}
