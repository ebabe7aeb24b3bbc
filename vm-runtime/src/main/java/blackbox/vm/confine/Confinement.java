package blackbox.vm.confine;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How this process confines the hypervisors that it starts.
///
/// Confinement is the rule. A process gives it up as a whole, because somebody said so: with `--unconfined`, or
/// with `BLACKBOX_UNCONFINED=1` in the environment.
///
/// @param mechanism as runs seal it: name and version, or `none`
public record Confinement(String mechanism) {
    private static final String UNCONFINED = "BLACKBOX_UNCONFINED";
    static final Confinement NONE = new Confinement("none");
    private static final String MEND = "; on Debian: apt-get install bubblewrap. `blackbox doctor` tries it."
            + " --unconfined starts the VM without it: a guest that breaks out of QEMU then has all that this user has";

    private static volatile @Nullable Confinement ours;
    private static volatile boolean givenUp = "1".equals(System.getenv(UNCONFINED));

    /// This process's.
    ///
    /// @throws VmException `NOT_CONFINED` where there is none
    public static synchronized Confinement ofThisProcess() throws VmException {
        if (givenUp) {
            return NONE;
        }
        Confinement known = ours;
        if (known == null) {
            known = new Confinement(bubblewrap());
            ours = known;
        }
        return known;
    }

    /// Begins, on a thread of its own, what the first box would have to wait for.
    public static void prepare() {
        if (!givenUp) {
            Thread.ofPlatform().daemon().name("confinement").start(() -> {
                try {
                    ofThisProcess();
                    SyscallFilter.of(SyscallFilter.Purpose.MACHINE);
                } catch (VmException _) {
                    // Whoever needs a box is told.
                }
            });
        }
    }

    /// From now on, this process confines nothing.
    public static void giveUp() {
        givenUp = true;
    }

    /// Whether there is any.
    public boolean confines() {
        return !equals(NONE);
    }

    /// A process's failure while it started, with what it said: it is the confinement's if that is who said it.
    public static VmException asReason(VmException failure, String lastWords) {
        for (String each : List.of(Box.BUBBLEWRAP, "setpriv", "prlimit")) {
            if (lastWords.contains(each + ": ")) {
                return impossible(lastWords, failure);
            }
        }
        return new VmException(failure.code(), failure.getMessage() + "; " + lastWords, failure);
    }

    static VmException impossible(String because, @Nullable Throwable cause) {
        return new VmException(Code.NOT_CONFINED, "the VM cannot be confined: " + because + MEND, cause);
    }

    private static String bubblewrap() throws VmException {
        if (Command.find(Box.BUBBLEWRAP) == null) {
            throw impossible("bubblewrap is not installed", null);
        }
        Command.Outcome said =
                new Command(List.of(Box.BUBBLEWRAP, "--version"), null, Map.of(), Duration.ofSeconds(20)).attempt();
        if (said.exit() != 0) {
            throw impossible("bubblewrap does not start: " + said.errors().strip(), null);
        }
        return said.output().strip();
    }
}
