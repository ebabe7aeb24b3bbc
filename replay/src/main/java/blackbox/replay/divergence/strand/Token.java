package blackbox.replay.divergence.strand;

import blackbox.replay.divergence.text.NamesUsed;

/// One event as the alignment sees it.
///
/// @param index the event's index in its run
/// @param ordinal its place in its strand, from 0
/// @param sort its kind, as far as the alignment distinguishes kinds
/// @param canon hash of what it is, identifiers renamed
/// @param lanes what was renamed, 16 bits of hash each: process numbers, made-up names, ports,
/// lengths of the kernel's files
/// @param subject hash of the path or flow that it is about, 0 where there is none
/// @param volume for events that fold several calls: a hash of the counts such that the hash of a sum is the sum
///     of the hashes
/// @param writes whether it changes its subject
/// @param names the made-up names in it
/// @param reach how much of the world could tell whether it happened
/// @param ending how a process ended with it
/// @param written `canon`, but for numbers of processes, which count as they are written
public record Token(
        long index,
        long ordinal,
        Sort sort,
        long canon,
        long lanes,
        long subject,
        long volume,
        boolean writes,
        NamesUsed names,
        Reach reach,
        Ending ending,
        long written) {

    /// Kinds of events that are compared in a way of their own.
    public enum Sort {
        /// A file was opened or closed.
        ACCESS,
        /// Reads and writes of a file, folded.
        FILE_IO,
        /// A flow with its octets, folded.
        FLOW,
        /// A process ended.
        PROCESS_END,
        /// From here on another program runs, rights are different, or a name means another file: the same event
        /// after it is not the same as before it.
        TURNING_POINT,
        /// A replay asked for something that its recording does not contain.
        MISS,
        /// Anything else.
        OTHER;

        /// Whether such an event can serve as an anchor: among the others, many are identical.
        public boolean isRare() {
            return switch (this) {
                case ACCESS, FILE_IO -> false;
                case FLOW, PROCESS_END, MISS, TURNING_POINT, OTHER -> true;
            };
        }
    }

    /// How a process ended, as far as that may depend on whether somebody still read what it wrote.
    public enum Ending {
        /// It did not end, or otherwise.
        OTHER,
        /// By SIGPIPE: nobody read any more when it wrote.
        UNREAD,
        /// By itself, with 0.
        DONE
    }

    /// How far a deed reaches. In rising order.
    public enum Reach {
        /// Something was only looked at, or an attempt failed: nobody else can tell.
        PATH,
        /// It changed a file of the guest's disk: what the file is at the end tells.
        DISK,
        /// Anything else: a program ran, ended, got other rights or sent something; a name came to mean another
        /// file; something was changed that is not on the disk.
        EFFECT
    }
}
