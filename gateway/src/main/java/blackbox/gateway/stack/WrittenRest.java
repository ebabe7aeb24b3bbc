package blackbox.gateway.stack;

import blackbox.gateway.egress.FlowEnd.How;

/// What a closed channel had written and the guest has not acknowledged: it is all that is left of the channel.
final class WrittenRest implements TcpConnection.User {
    private final byte[] octets;
    private final long first;
    private final TcpConnection connection;
    private final BufferBudget budget;
    private final OpeningConnection.EndListener listener;

    /// @param first the position of the first octet among all that were ever written
    WrittenRest(
            byte[] octets,
            long first,
            TcpConnection connection,
            BufferBudget budget,
            OpeningConnection.EndListener listener) {
        this.octets = octets;
        this.first = first;
        this.connection = connection;
        this.budget = budget;
        this.listener = listener;
        budget.change(octets.length);
    }

    void read(long position, int length, byte[] into, int at) {
        System.arraycopy(octets, (int) (position - first), into, at, length);
    }

    @Override
    public int room() {
        return TcpConnection.WINDOW;
    }

    @Override
    public void received(byte[] from, int at, int length) {
        throw new IllegalStateException("a closed channel receives nothing");
    }

    @Override
    public void receivedAll() {}

    @Override
    public boolean hasReadAll() {
        return true;
    }

    @Override
    public void acknowledged(int count) {}

    @Override
    public void opened() {}

    @Override
    public void ended(How how) {
        budget.change(-octets.length);
        listener.ended(how, connection.octetsOut(), connection.octetsIn());
    }
}
