package blackbox.query.ocsf;

/// The classes of OCSF 1.8 that events are written as.
enum OcsfClass {
    BASE(0, "Base Event"),
    FILE(1001, "File System Activity"),
    PROCESS(1007, "Process Activity"),
    DETECTION(2004, "Detection Finding"),
    NETWORK(4001, "Network Activity"),
    HTTP(4002, "HTTP Activity"),
    DNS(4003, "DNS Activity"),
    APPLICATION(6002, "Application Lifecycle"),
    API(6003, "API Activity"),
    PROCESS_REMEDIATION(7003, "Process Remediation Activity");

    private static final int CLASSES_OF_CATEGORY = 1000;
    private static final int TYPES_OF_CLASS = 100;

    private final int uid;
    private final String caption;

    OcsfClass(int uid, String caption) {
        this.uid = uid;
        this.caption = caption;
    }

    int uid() {
        return uid;
    }

    String caption() {
        return caption;
    }

    int category() {
        return uid / CLASSES_OF_CATEGORY;
    }

    /// The number of a class together with one of its activities.
    long type(Activity activity) {
        return (long) uid * TYPES_OF_CLASS + activity.id();
    }

    /// What was done, by the class's number for it.
    ///
    /// @param name OCSF's for the number, or of our own where it has none
    record Activity(int id, String name) {
        private static final int OTHER = 99;

        /// One for which the class has no number.
        static Activity other(String name) {
            return new Activity(OTHER, name);
        }
    }
}
