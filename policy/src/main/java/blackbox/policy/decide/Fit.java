package blackbox.policy.decide;

import java.util.Set;

/// How a rule's traffic and what is known of a request fit.
sealed interface Fit {

    /// It is about the request.
    record Yes() implements Fit {}

    /// It is, if what is not known yet fits too.
    ///
    /// @param needs not empty
    record Maybe(Set<Need> needs) implements Fit {}

    /// It would be, if servers could not disagree about the path.
    ///
    /// @param why a clause about the path
    record UnsafePath(String why) implements Fit {}

    /// It is not.
    ///
    /// @param depth how many of the things that are compared one after the other did fit
    /// @param why what a rule allows instead, after its name and `allows`
    record No(int depth, String why) implements Fit {}
}
