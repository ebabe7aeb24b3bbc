package blackbox.replay.rerun;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.cassette.CassettePeer.LookedUp;
import blackbox.replay.cassette.CassettePeer.Moved;
import blackbox.replay.cassette.CassettePeer.Played;
import blackbox.replay.cassette.CassettePeer.StandIns;
import blackbox.replay.cassette.CassettePeer.Turned;
import blackbox.replay.cassette.Miss;
import blackbox.replay.clock.SharedTimeline;
import blackbox.replay.clock.SharedTimes;
import blackbox.replay.compare.ComparedFiles;
import blackbox.replay.compare.ComparedOutput;
import blackbox.replay.compare.ComparedOutput.Began;
import blackbox.replay.compare.EventTape;
import blackbox.replay.compare.OwnTls;
import blackbox.replay.compare.PrintedTies;
import blackbox.replay.compare.RecordedSide;
import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.cause.UneventfulCauses;
import blackbox.replay.divergence.strand.AgreedPeers;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.request.Difference;
import blackbox.replay.request.IdPlace;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.Comparison;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.SharedOffsets;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.Verdict.Completion;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.folder.CaptureName;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Compares a re-execution with its recording, in what was done, left behind and printed, and gives the
/// verdict. Needs no machine: only what one left. Used once, by one thread.
final class RerunComparison {
    /// What is permitted to differ in every re-execution.
    private static final List<String> RULES = List.of(
            "clock: the guest's clock is set to the recorded time right before the command starts, and then follows the"
                    + " recorded one, unless the execution is kept: it is set forward or slowed down, never set back",
            "random: the guest is given the recorded entropy; what programs draw follows from it, if the image is of this version"
                    + " or later; what the kernel draws for itself (addresses, canaries, ports) depends on timing",
            "network-time: an answer arrives as soon as its request has been sent; over plain HTTP/1.1 after those that"
                    + " were answered before it when it was recorded, if they are asked for in time",
            "dns-id: DNS questions are compared without their ids, which are random");

    private final Recorded recorded;
    private final OnMiss onMiss;
    private final Map<String, String> environment;

    /// The recording.
    ///
    /// @param captures the run's captured files, by name
    /// @param files opens what the run left on its disk
    record Recorded(
            Recordings recordings, RunFacts facts, Map<String, SealedCapture> captures, ComparedFiles.Opener files) {}

    /// What a re-execution left.
    ///
    /// @param given what its machine was started from
    /// @param events what was done
    /// @param printed what was printed
    /// @param files opens what is on its disk
    /// @param authority the certificate that its programs trusted, in PEM, or null
    /// @param limits which parts of the recording it could not get, in words
    record Replayed(
            RunInputs given,
            EventTape events,
            ReplayedOutput printed,
            ComparedFiles.Opener files,
            @Nullable String authority,
            Ending ending,
            List<String> limits) {}

    /// How a re-execution ended.
    ///
    /// @param byItself whether its command did; if not, it was ended
    /// @param missed the first request that the recording has no answer to, or null
    /// @param clock how the guest's clock differed from the recorded one, null if that is not known
    /// @param played what the network gave
    record Ending(
            boolean byItself,
            @Nullable Miss missed,
            @Nullable ClockOffset clock,
            Played played) {}

    /// The verdict, and octets in which the two differ, which may be secret.
    ///
    /// @param request of the first request that the recording has no answer to, or null
    /// @param output of what was printed, or null
    record Judged(
            Verdict verdict,
            @Nullable Difference request,
            @Nullable Difference output) {}

    /// @param onMiss what the re-execution did when something was asked that was not recorded
    /// @param environment values of variables that it was given
    RerunComparison(Recorded recorded, OnMiss onMiss, Map<String, String> environment) {
        this.recorded = recorded;
        this.onMiss = onMiss;
        this.environment = environment;
    }

    /// Compares.
    ///
    /// @param agreements is told which events agree
    /// @param at when the verdict is given
    /// @throws ReplayException when the recording is not what was sealed, or cannot be read
    /// @throws IOException when what the re-execution left cannot be read
    Judged with(Replayed replayed, Agreements agreements, Instant at) throws ReplayException, IOException {
        try (var files = ComparedFiles.of(
                new ComparedFiles.Left(
                        recorded.files(),
                        RecordedSide.events(
                                recorded.recordings(), recorded.facts().run()),
                        RecordedAgent.of(recorded.facts()).command().trusted()),
                new ComparedFiles.Left(replayed.files(), replayed.events(), replayed.authority()),
                replayed.ending().played().ids())) {
            return with(replayed, files, agreements, at);
        }
    }

    private Judged with(Replayed replayed, ComparedFiles files, Agreements agreements, Instant at)
            throws ReplayException, IOException {
        RunFacts facts = recorded.facts();
        Set<Endpoint> opened =
                isCut(facts) ? Set.of() : replayed.ending().played().opened();
        Side one = RecordedSide.of(recorded.recordings(), facts.run()).with(events -> OwnTls.without(events, opened));
        Side other =
                new Side("replay", replayed.events(), replayed.given()).with(events -> OwnTls.without(events, opened));
        long hashKey = new SecureRandom().nextLong();
        var times = new SharedTimes(agreements);
        AlignmentSettings settings =
                AlignmentSettings.of(hashKey).with(agreedPeers(replayed.ending().played()));
        Alignment alignment = Divergences.align(one, other, files, settings, times);
        SharedTimeline timeline = times.timeline(one.events(), other.events());
        var causes = new UneventfulCauses(new KeyedHash(hashKey), one, other);
        ComparedOutput output = ComparedOutput.of(
                new RecordedOutput(facts, recorded.captures()),
                ComparedOutput.Other.of(replayed.printed(), replayed.ending().byItself()),
                began(replayed.ending()),
                new PrintedTies(files, timeline));
        Verdict verdict = Verdict.of(
                facts.run(),
                at,
                ReplayMethod.RERUN,
                comparison(replayed, alignment, output, files, causes)
                        .with(clock(replayed.ending(), timeline.offsets())),
                new Completion(unfinished(replayed.ending(), alignment)));
        Miss missed = replayed.ending().missed();
        OutputMatch differs = output.differs();
        return new Judged(
                verdict, missed == null ? null : missed.difference(), differs == null ? null : differs.octets());
    }

    /// Whether the recording has only a part of what was said in TLS.
    private boolean isCut(RunFacts facts) {
        SealedCapture inTls = recorded.captures().get(CaptureName.PLAINTEXT.text());
        RunFacts.End end = facts.end();
        boolean unsealed = end != null && end.detail().path("unsealed").has(CaptureName.PLAINTEXT.text());
        return unsealed || inTls != null && (end == null || inTls.ended() != null);
    }

    private static AgreedPeers agreedPeers(Played played) {
        Set<Endpoint> peers = played.moved().stream().map(Moved::remote).collect(Collectors.toSet());
        return new AgreedPeers(peers, played.lookedUp().resolvers());
    }

    private static @Nullable ClockOffset clock(Ending ending, @Nullable SharedOffsets shared) {
        ClockOffset offset = ending.clock();
        return offset == null ? null : offset.with(shared);
    }

    private Began began(Ending ending) throws ReplayException {
        RecordedAgent.GuestTimes times =
                RecordedAgent.of(recorded.facts()).times().guest();
        ClockOffset offset = ending.clock();
        return times == null || offset == null
                ? Began.UNKNOWN
                : new Began(times.startNs(), times.startNs() + offset.startNs());
    }

    private Comparison comparison(
            Replayed replayed, Alignment alignment, ComparedOutput output, ComparedFiles files, UneventfulCauses causes)
            throws IOException {
        var rules = new ArrayList<>(RULES);
        if (!environment.isEmpty()) {
            rules.add("environment: the values of "
                    + String.join(", ", environment.keySet().stream().sorted().toList()) + " were supplied again");
        }
        alignment.rules().forEach(rule -> rules.add(meaning(rule)));
        rules.addAll(files.rules());
        stoodFor(replayed.ending().played())
                .forEach(place -> rules.add(place.text() + ": in requests, " + place.meaning()
                        + " stand for the recorded ones, each for one and wherever it is sent"));
        var found = alignment.firstDivergence();
        FirstDivergence ofEvents = found == null ? null : FirstDivergence.of(found);
        var compared = new ArrayList<>(List.of("events of the guest and of its network, as the recorder sees them"));
        compared.addAll(output.compared());
        compared.addAll(files.compared());
        List<String> notCompared = notCompared(replayed, alignment, output, files);
        OutputMatch differs = output.differs();
        return new Comparison(
                rules,
                compared,
                notCompared,
                alignment.comparedEvents(),
                output.divergence(ofEvents, causes, recorded.recordings(), recorded.facts()),
                0,
                null,
                Levels.of(
                        alignment.differences(),
                        Levels.of(differs == null ? null : differs.difference()),
                        extent(alignment, output, replayed.ending().played())));
    }

    private static boolean hasStandIns(Played played, Endpoint remote) {
        return played.standIns().stream().anyMatch(each -> each.remote().equals(remote));
    }

    /// Where ids stood for others in requests.
    private static Set<IdPlace> stoodFor(Played played) {
        var places = EnumSet.noneOf(IdPlace.class);
        played.standIns().forEach(each -> places.addAll(each.requests().keySet()));
        return places;
    }

    private static Levels.Extent extent(Alignment alignment, ComparedOutput output, Played played) {
        LeftFiles.Result left = alignment.left();
        if (left == null || output.extent() == Levels.Extent.PART) {
            return Levels.Extent.PART;
        }
        boolean held = played.turned().stream().anyMatch(each -> each.held() > 0);
        return left.tied() || held || !played.standIns().isEmpty() ? Levels.Extent.ALL_BUT_VALUES : output.extent();
    }

    private @Nullable String unfinished(Ending ending, Alignment alignment) {
        RunFacts facts = recorded.facts();
        if (ending.missed() != null && onMiss == OnMiss.END) {
            return "it was ended at the first request that the recording has no answer to; `blackbox replay "
                    + facts.run() + " --go-on` lets it continue";
        }
        if (!ending.byItself()) {
            return "the command was ended: it took more than twenty times as long as when it was recorded, and two minutes";
        }
        if (alignment.outcome() != Alignment.Outcome.INCOMPLETE) {
            return null;
        }
        return facts.end() == null
                ? "the recording of run " + facts.run() + " has no end; the replay agrees with it as far as it goes"
                : "the replay agrees as far as it could be compared: events are missing, or the two differ in too much"
                        + " for the memory limit";
    }

    /// First what is so of this replay, then what is so of all.
    private List<String> notCompared(
            Replayed replayed, Alignment alignment, ComparedOutput output, ComparedFiles files) {
        var lines = new ArrayList<>(replayed.limits());
        if (isCut(recorded.facts())) {
            lines.add("what was said in TLS after the end of what is kept of it");
        }
        Played played = replayed.ending().played();
        if (played.unusedConnections() + played.unusedDatagrams() > 0) {
            lines.add(played.unusedConnections() + " recorded connections and " + played.unusedDatagrams()
                    + " recorded datagrams that the replay did not ask for");
        }
        for (Moved moved : played.moved()) {
            lines.add("over which connections HTTP/1.1 requests went to "
                    + moved.remote().ip() + " port "
                    + moved.remote().port() + ": recorded connections " + moved.recorded() + ", replayed ones "
                    + moved.replayed() + ", requests over another one " + moved.requests()
                    + (hasStandIns(played, moved.remote())
                            ? "; all octets of requests and answers are the same but for ids"
                            : "; all octets of requests and answers are the same"));
        }
        LookedUp lookedUp = played.lookedUp();
        if (!lookedUp.names().isEmpty()) {
            lines.add("how often their names were looked up ("
                    + String.join(", ", lookedUp.names()) + "): " + lookedUp.less()
                    + " recorded questions were not asked, " + lookedUp.more()
                    + " were asked that were not recorded, and answered as recorded ones were");
        }
        for (Turned turned : played.turned()) {
            lines.add("in which order " + turned.remote().ip() + " port "
                    + turned.remote().port() + " was asked: " + turned.held()
                    + " requests came before others that had been answered before them when they were recorded, and were"
                    + " held back until these were, too, " + turned.late()
                    + " answers were not given in the recorded order");
        }
        for (StandIns each : played.standIns()) {
            lines.add("ids that requests to " + each.remote().ip() + " port "
                    + each.remote().port() + " had of their own: "
                    + each.requests().entrySet().stream()
                            .map(place -> place.getKey().text() + " in " + place.getValue() + " requests")
                            .collect(Collectors.joining(", "))
                    + "; all other octets of them are the same");
        }
        lines.addAll(output.notCompared());
        lines.addAll(files.notCompared());
        lines.addAll(alignment.notCompared());
        lines.add(RecordedInput.of(recorded.facts(), recorded.captures()).limit());
        return lines;
    }

    private static String meaning(String rule) {
        return Alignment.RULES.stream()
                .filter(each -> each.startsWith(rule + ":"))
                .findFirst()
                .orElse(rule);
    }
}
