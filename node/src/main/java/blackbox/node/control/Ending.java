package blackbox.node.control;

/// How a run is ended from outside.
public interface Ending {

    /// Makes this the run's end.
    ///
    /// @return false if it has ended otherwise by now
    boolean claim();

    /// Ends the machine.
    ///
    /// @return false if it did not end
    boolean end();
}
