package blackbox.evidence.storage;

final class MemoryStoreTest extends FileStoreContract {

    @Override
    protected FileStore store() {
        return new MemoryStore();
    }
}
