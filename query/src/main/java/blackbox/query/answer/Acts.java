package blackbox.query.answer;

import blackbox.query.calls.BudgetCollector;
import blackbox.query.calls.CallCollector;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.RunView;

/// What was touched by some of a run's acts.
final class Acts {

    final FileCollector files;
    final RefusalCollector refusals;
    final ProcessCollector processes;
    final FlowCollector flows;
    final DecisionCollector decisions;
    final ExchangeCollector exchanges;
    final SecretCollector secrets;
    final BudgetCollector budgets = new BudgetCollector();
    final PrivilegeCollector privileges;
    final CallCollector calls;

    /// How much is kept in all, of which each may take what it needs.
    record Rooms(
            Room files,
            Room refusals,
            Room processes,
            FlowCollector.Rooms flows,
            Room decisions,
            Room exchanges,
            Room secrets,
            Room privileges,
            Room calls) {
        static Rooms ofOneAnswer() {
            return new Rooms(
                    new Room(FileCollector.PATHS_MAX),
                    new Room(RefusalCollector.KEPT_MAX),
                    new Room(ProcessCollector.PROGRAMS_MAX),
                    FlowCollector.Rooms.ofOneAnswer(),
                    new Room(DecisionCollector.KEPT_MAX),
                    new Room(ExchangeCollector.KEPT_MAX),
                    new Room(SecretCollector.KEPT_MAX),
                    new Room(PrivilegeCollector.USES_MAX),
                    new Room(CallCollector.KEPT_MAX));
        }
    }

    /// @param programs of all processes, which somebody else keeps up to date
    Acts(Programs programs, Rooms rooms) {
        this.files = new FileCollector(rooms.files());
        this.refusals = new RefusalCollector(programs, rooms.refusals());
        this.processes = new ProcessCollector(rooms.processes());
        this.flows = new FlowCollector(rooms.flows());
        this.decisions = new DecisionCollector(rooms.decisions());
        this.exchanges = new ExchangeCollector(rooms.exchanges());
        this.secrets = new SecretCollector(rooms.secrets());
        this.privileges = new PrivilegeCollector(rooms.privileges());
        this.calls = new CallCollector(rooms.calls()::take, rooms.calls().most());
    }

    void see(EventView event, long index) {
        files.see(event);
        if (event instanceof FileView file) {
            refusals.see(file, index);
        }
        processes.see(event);
        flows.see(event);
        if (event instanceof NetView.Decision decision) {
            decisions.see(decision, index);
        } else if (event instanceof NetView.Exchange exchange) {
            exchanges.see(exchange, index);
        } else if (event instanceof NetView.SecretUse use) {
            secrets.see(use, index);
        } else if (event instanceof RunView.Policy policy) {
            budgets.see(policy);
        }
        privileges.see(event, index);
        if (event instanceof NetView net) {
            calls.see(net, index);
        }
    }
}
