package blackbox.verifier;

import java.lang.reflect.InvocationTargetException;

/// The jar's entry point. It is compiled for Java 11, so that on a Java too old for the rest it can say so in a
/// sentence instead of failing with a LinkageError; therefore it names no other class of the verifier.
public final class Start {

    private static final int JAVA = 25;
    private static final int FAILED = 3;

    private Start() {}

    public static void main(String[] args) {
        if (Runtime.version().feature() < JAVA) {
            System.err.println("blackbox-verifier: this is Java " + System.getProperty("java.version") + " ("
                    + System.getProperty("java.home") + "), but Java " + JAVA
                    + " or later is needed: start the jar with the bin/java of one");
            System.exit(FAILED);
        }
        try {
            Class.forName("blackbox.verifier.Main")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) args);
        } catch (InvocationTargetException e) {
            failed(String.valueOf(e.getCause()));
        } catch (Throwable e) { // an uncaught one would be exit 1, which means that something does not hold
            failed(e.toString());
        }
    }

    private static void failed(String why) {
        System.err.println("blackbox-verifier: it failed: " + why);
        System.exit(FAILED);
    }
}
