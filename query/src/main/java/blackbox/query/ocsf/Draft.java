package blackbox.query.ocsf;

import blackbox.query.ocsf.OcsfClass.Activity;

/// An event of OCSF without what all of them have.
///
/// @param of its class
/// @param fields those of its class
record Draft(OcsfClass of, Activity activity, Severity severity, Fields fields) {

    /// How severe it is. That a recording of what happened calls nothing worse than high is meant: it does not
    /// know what was meant to happen.
    enum Severity {
        INFORMATIONAL(1),
        LOW(2),
        MEDIUM(3),
        HIGH(4),
        CRITICAL(5);

        private final int id;

        Severity(int id) {
            this.id = id;
        }

        int id() {
            return id;
        }
    }

    static Draft of(OcsfClass of, Activity activity, Fields fields) {
        return new Draft(of, activity, Severity.INFORMATIONAL, fields);
    }

    /// A Base Event, of what no class fits.
    static Draft base(String name) {
        return of(OcsfClass.BASE, Activity.other(name), new Fields());
    }

    Draft with(Severity severe) {
        return new Draft(of, activity, severe, fields);
    }
}
