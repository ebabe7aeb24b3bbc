package blackbox.evidence.storage;

final class MemoryStoreTest extends FileStoreContract {

    @Override
    protected FileStore emptyStore() {
        return new MemoryStore();
    }
}
