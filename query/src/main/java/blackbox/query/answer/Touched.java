package blackbox.query.answer;

import blackbox.query.calls.AgentCalls;
import blackbox.query.calls.BudgetUse;
import blackbox.query.sides.GuestAndHost;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.FileEffect;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a run touched, and in words what may not have been seen.
public record Touched(
        List<FileUse> files,
        List<FileRefusal> refused,
        List<ProgramRun> processes,
        List<Flow> egress,
        List<LinkTraffic> linkLayer,
        List<EgressDecision> decisions,
        List<HttpRequest> requests,
        List<SecretUse> secrets,
        List<BudgetUse> budgets,
        List<PrivilegeUse> privileges,
        AgentCalls calls,
        GuestAndHost sides,
        List<String> limits) {

    public Touched {
        files = List.copyOf(files);
        refused = List.copyOf(refused);
        processes = List.copyOf(processes);
        egress = List.copyOf(egress);
        linkLayer = List.copyOf(linkLayer);
        decisions = List.copyOf(decisions);
        requests = List.copyOf(requests);
        secrets = List.copyOf(secrets);
        budgets = List.copyOf(budgets);
        privileges = List.copyOf(privileges);
        limits = List.copyOf(limits);
    }

    /// What happened to the file at one path. `renamedTo` is the last name it was given from there.
    public record FileUse(
            Text path,
            FileDeeds deeds,
            long bytesRead,
            long bytesWritten,
            @Nullable Text renamedTo) {}

    /// What was done to a file, each at least once: opened, read, written, created, deleted, its attributes
    /// changed, mapped shared and writable.
    public record FileDeeds(
            boolean opened,
            boolean read,
            boolean written,
            boolean created,
            boolean deleted,
            boolean attributes,
            boolean mapped) {

        static FileDeeds of(Set<FileEffect> effects) {
            return new FileDeeds(
                    effects.contains(FileEffect.OPENS),
                    effects.contains(FileEffect.READS),
                    effects.stream().anyMatch(FileEffect::isWrite),
                    effects.contains(FileEffect.CREATES),
                    effects.contains(FileEffect.DELETES) || effects.contains(FileEffect.RENAMES),
                    effects.contains(FileEffect.ATTRIBUTES),
                    effects.contains(FileEffect.MAPS));
        }
    }

    /// Something that was to be done with a file and was refused for want of a permission.
    ///
    /// @param act in words that go before the path: `read`
    /// @param path absolute where that is known
    /// @param by the program and process number, as `cat (139)`; null if that is not known
    /// @param error the errno's name
    /// @param index of the first such event
    /// @param count how often
    public record FileRefusal(
            String act, String path, @Nullable String by, String error, long index, long count) {}

    /// A program that a process ran; a process that ran several appears once for each. `forked` means that
    /// the process never executed one itself and continued with its parent's, `moved` that it came into
    /// this container with the program that it had.
    public record ProgramRun(
            String key,
            long pid,
            @Nullable Long ppid,
            @Nullable Text exe,
            @Nullable List<Text> argv,
            ProcessEnd end,
            boolean forked,
            boolean moved) {}

    /// How a process ended; both null if its end was not seen.
    public record ProcessEnd(
            @Nullable Long exitCode, @Nullable Long signal) {}

    /// Traffic between one local and one remote endpoint, as the guest's kernel counted it and as the host
    /// saw it on the wire. `failedWith` is the negated errno of an attempt for which neither side saw
    /// traffic.
    public record Flow(
            String protocol,
            @Nullable String local,
            String remoteIp,
            @Nullable Integer remotePort,
            @Nullable String host,
            @Nullable Octets guest,
            @Nullable Octets onWire,
            @Nullable Long failedWith) {

        /// Octets sent: what the host saw, or else what the guest counted.
        public long bytesOut() {
            return onWire != null ? onWire.out() : guest != null ? guest.out() : 0;
        }

        /// Octets received: what the host saw, or else what the guest counted.
        public long bytesIn() {
            return onWire != null ? onWire.in() : guest != null ? guest.in() : 0;
        }
    }

    /// Frames without IP addresses that the host saw (ARP and the like), with the octets of their payload.
    public record LinkTraffic(String protocol, Octets onWire) {}

    /// What the egress gateway decided, and how often.
    ///
    /// @param verdict `allow`, `deny`, `budget` or `would-deny`
    /// @param to the name, or the address where there was none
    /// @param port null where only a name was asked for
    /// @param stage at which it was decided: `dns`, `connect`, `dial`, `flow`, `tls`, `http`, `ws`, `mcp`
    /// @param rule that decided; null where none did
    /// @param reason as a sentence; of `dial`, where it was connected to
    /// @param index of the first such event
    public record EgressDecision(
            String verdict,
            String protocol,
            String to,
            @Nullable Long port,
            @Nullable String stage,
            @Nullable String rule,
            @Nullable String reason,
            long index,
            long count) {}

    /// HTTP requests that the egress gateway judged, and how many there were alike.
    ///
    /// @param url to whom the connection was, with the target as it was forwarded; a target that is no path stands
    ///     behind a space
    /// @param status of the answer; 0 if there was none
    /// @param ending `answered`, `refused`, `switched`, `broken-by-guest`, `broken-by-upstream` or `gateway-closed`
    /// @param rule that allowed or denied it; null where none did
    /// @param octets of the bodies of all of them
    /// @param index of the first such event
    public record HttpRequest(
            String method,
            String url,
            long status,
            String ending,
            @Nullable String rule,
            Octets octets,
            long index,
            long count) {}

    /// What became of a secret in the exchanges with one host, alike ones together. Neither its value nor what stands
    /// for it is in the record of it.
    ///
    /// @param how `put` into a request; `absent` where it goes with the request; its surrogate `elsewhere`, and the
    ///     request refused; or `reflected` by an answer, and taken out of it
    /// @param to the name, or the address where there was none
    /// @param rule under which the requests went; null where none allowed them
    /// @param place where it is put, where it stood, or in what it was found
    /// @param times how often it was put, stood there or was found
    /// @param index of the first such event
    /// @param count how many exchanges
    public record SecretUse(
            String secret,
            String how,
            String to,
            @Nullable Long port,
            @Nullable String rule,
            @Nullable String place,
            long times,
            long index,
            long count) {}

    /// Payload octets out of and into the guest.
    public record Octets(long out, long in) {}

    /// A change of credentials or a use of a privileged interface, and how often; `index` is the first event's.
    public record PrivilegeUse(
            String what, @Nullable String subject, @Nullable String comm, long index, long count, boolean refused) {}
}
