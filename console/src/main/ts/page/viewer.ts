import { Key } from "../core/note";
import type { Progress, Report } from "../core/verify";
import { fill, h } from "./dom";
import { EventList } from "./list";
import type { Answer, Details, Facts, Question } from "./messages";
import { printable } from "./text";
import { Timeline } from "./timeline";

const WORDS: Record<Report["verdict"], string> = {
  VERIFIED: "Every event is signed, in its place and unchanged, and the run ends where it was closed.",
  TAMPERED: "Something in this bundle is not what was signed. What is listed below is where; nothing after it is shown.",
  TRUNCATED: "What is here holds, but the run is not here to its end.",
  UNCHECKED: "This page cannot judge this bundle; `blackbox verify` can.",
};

/** Where the state of what is shown is kept, so that it can be linked to. */
export interface Address {
  read(): URLSearchParams;
  write(words: URLSearchParams): void;
}

interface State {
  event: number | null;
  kind: string;
  text: string;
}

/** A bundle's verdict and events, verified by a thread of this browser. */
export class Viewer {
  private thread: Worker | null = null;
  private readonly badge = h("p", { class: "badge", role: "status", "aria-live": "polite" }, "…");
  private readonly meaning = h("p", { class: "meaning" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Verified so far" });
  private readonly findings = h("ul", { class: "findings" });
  private readonly facts = h("dl", { class: "facts" });
  private readonly keys = h("textarea", {
    id: "keys",
    rows: 2,
    spellcheck: "false",
    placeholder: "blackbox/log/…+1234abcd+AY…",
    "aria-describedby": "keys-why",
  });
  private readonly keyFaults = h("div", { role: "alert", class: "faults" });
  private readonly kind = h("select", { id: "kind", change: () => this.filter() }, h("option", { value: "" }, "all kinds"));
  private readonly text = h("input", {
    id: "text",
    type: "search",
    placeholder: "a path, an argument, a host",
    input: () => this.filter(),
  });
  private readonly count = h("output", { for: "kind text" });
  private readonly details = h("section", { class: "details", "aria-label": "The selected event", tabindex: -1 });
  private readonly body = h("div", { class: "body", hidden: true });
  private readonly list: EventList;
  private readonly timeline = new Timeline(
    (span, parts) => this.ask({ ask: "timeline", span, parts }),
    (time) => this.ask({ ask: "at", time }),
    (span) => {
      const words = this.address.read();
      words.delete("span");
      if (span) {
        words.set("span", `${Math.round(span.from)}-${Math.round(span.to)}`);
      }
      this.address.write(words);
    },
  );
  private state: State = { event: null, kind: "", text: "" };
  private bundle: string | ArrayBuffer | null = null;
  private runExpected: string | null = null;
  private shown = "";
  private listed = 0;
  private ended = false;

  /** The verdict and what belongs to it. */
  readonly head: HTMLElement;
  /** The events. */
  readonly main: HTMLElement;

  /** @param program the address of the program that the thread runs */
  constructor(
    private readonly program: string,
    private readonly address: Address,
  ) {
    this.list = new EventList(
      (from, to) => this.ask({ ask: "lines", from, to }),
      (line) => this.open(line.index),
    );
    this.body.append(
      this.timeline.element,
      h(
        "form",
        { class: "filter", role: "search", submit: (event) => event.preventDefault() },
        h("label", { for: "kind" }, "Kind"),
        this.kind,
        h("label", { for: "text" }, "Text"),
        this.text,
        this.count,
      ),
      this.list.element,
      this.details,
    );
    const trust = h(
      "details",
      { class: "trust" },
      h("summary", {}, "Who made this?"),
      h(
        "p",
        { id: "keys-why" },
        "A bundle carries its own public keys, so that it can be checked at all; whoever made it chose them. Paste the" +
          " recorder's public key, got by a way that you trust, to know that it was made by that recorder.",
      ),
      h("label", { for: "keys" }, "Public keys, one a line"),
      this.keys,
      this.keyFaults,
      h("button", { type: "button", click: () => this.verify() }, "Verify with these keys"),
    );
    this.head = h("section", { "aria-label": "Verdict" }, this.badge, this.bar, this.meaning, this.findings, this.facts, trust);
    this.main = this.body;
  }

  /**
   * Verifies a bundle, and shows it.
   *
   * @param run the run that it must be of, if it need not have a statement: it comes from its service
   */
  show(bundle: string | ArrayBuffer, run: string | null = null): void {
    this.bundle = bundle;
    this.runExpected = run;
    this.verify();
  }

  /** Ends its thread. Nothing is shown any more. */
  end(): void {
    this.ended = true;
    this.thread?.terminate();
  }

  /** Says something in the place of a verdict. */
  say(verdict: string, text: string, meaning: string): void {
    this.badge.textContent = text;
    this.badge.dataset["verdict"] = verdict;
    this.meaning.textContent = meaning;
    this.bar.hidden = verdict !== "CHECKING";
  }

  fail(what: string): void {
    this.say("TAMPERED", "NOT VERIFIED", "");
    fill(this.findings, h("li", {}, printable(what)));
  }

  verdict(): string {
    return this.badge.textContent;
  }

  private verify(): void {
    const keys = this.keys.value
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    const faults = Viewer.faults(keys);
    fill(this.keyFaults, ...faults.map((each) => h("p", {}, each)));
    if (this.bundle === null || faults.length > 0) {
      return;
    }
    this.say("CHECKING", "Checking…", "");
    this.body.hidden = true;
    fill(this.findings);
    fill(this.facts);
    this.renew();
    this.ask({ ask: "verify", bundle: this.bundle, keys, run: this.runExpected });
  }

  /** What is wrong with the keys as they are typed; empty if nothing is. */
  private static faults(keys: string[]): string[] {
    return keys.flatMap((key, at) => {
      try {
        return Key.parse(key) ? [] : [`Key ${at + 1} is of a kind that this page cannot check; \`blackbox verify\` can.`];
      } catch {
        return [`Key ${at + 1} is not a public key, which is <name>+<8 hex digits>+<base64>.`];
      }
    });
  }

  /** A thread for each verification: what an earlier one says can no longer be taken for this one's. */
  private renew(): void {
    this.thread?.terminate();
    const thread = new Worker(this.program);
    thread.onmessage = ({ data }: MessageEvent<Answer>) => this.take(data);
    thread.onerror = () => this.fail("this page's program has ended: the bundle has something that it cannot read");
    this.thread = thread;
  }

  private ask(question: Question): void {
    this.thread?.postMessage(question);
  }

  private take(answer: Answer): void {
    if (this.ended) {
      return;
    }
    switch (answer.say) {
      case "progress":
        this.progress(answer.progress);
        break;
      case "report":
        this.report(answer.report, answer.facts, answer.ms);
        break;
      case "failed":
        this.fail(answer.what);
        break;
      case "filtered":
        this.filtered(answer.count, answer.done, `${answer.filter.kind}\n${answer.filter.text}`);
        break;
      case "lines":
        this.list.take(answer.from, answer.lines);
        break;
      case "place":
        this.list.go(answer.place, false);
        break;
      case "timeline":
        this.timeline.take(answer.span, answer.lanes);
        break;
      case "at":
        if (answer.index >= 0) {
          this.open(answer.index);
          this.ask({ ask: "place", index: answer.index });
        }
        break;
      case "event":
        this.event(answer.details);
        break;
    }
  }

  private progress({ step, done, of }: Progress): void {
    this.meaning.textContent = done > 0 ? `${step}: ${done.toLocaleString("en")} of ${of.toLocaleString("en")}` : step;
    this.bar.max = of;
    this.bar.value = done;
  }

  private report(report: Report, facts: Facts, ms: number): void {
    fill(this.findings, ...report.findings.map((each) => h("li", {}, printable(each))));
    const row = (name: string, ...values: (string | Node)[]): Node[] =>
      values.length === 0 ? [] : [h("dt", {}, name), ...values.map((value) => h("dd", {}, value))];
    const complete = report.completeness;
    const opened = facts.opened;
    const agent = (opened["agent"] ?? opened) as Record<string, unknown>;
    const command = agent["command"] ?? opened["command"];
    fill(
      this.facts,
      ...row("Run", report.run ?? "not known"),
      ...row("Command", ...(Array.isArray(command) ? [printable(command.map(String).join(" "))] : [])),
      ...row("Time", ...(facts.began ? [`${facts.began} to ${facts.ended ?? "no close"}`] : [])),
      ...row("Events", `${report.events.toLocaleString("en")}, ${report.checkpoints === 1 ? "covered by one signature" : `covered by ${report.checkpoints} signatures`}`),
      ...row(
        "Lost",
        ...(complete
          ? [
              complete.lossKnown
                ? complete.lost.toLocaleString("en")
                : `at least ${complete.lost.toLocaleString("en")}; not known from event ${complete.unknownFrom} on: ${printable(complete.unknownBecause.join(", "))}`,
            ]
          : []),
      ),
      ...row("To note", ...report.notes.map(printable)),
      ...row("Replays", ...report.replays.map((each) => `${each.outcome}, ${each.at.slice(0, 19)}Z`)),
      ...row("Keys", ...report.signers.map(printable)),
      ...row("Not checked", report.limits.join("; ")),
      ...row("Took", `${(ms / 1000).toFixed(1)} s in this browser`),
    );
    fill(
      this.kind,
      h("option", { value: "" }, "all kinds"),
      ...facts.kinds.map(({ kind, events }) => h("option", { value: kind }, `${kind} (${events.toLocaleString("en")})`)),
    );
    this.body.hidden = facts.kinds.length === 0;
    this.shown = "\n";
    this.listed = facts.kinds.reduce((sum, each) => sum + each.events, 0);
    this.list.reset(this.listed);
    this.timeline.reset(facts.beganNs, facts.lengthNs);
    this.restore();
    const holds = report.verdict === "VERIFIED";
    const words = WORDS[report.verdict];
    this.say(
      report.verdict,
      holds && !report.trusted ? "VERIFIED, by its own keys" : report.verdict,
      holds && !report.trusted ? `${words} Who made it is not known: no key was given.` : words,
    );
  }

  /** Draws again what depends on the window's size. */
  resize(): void {
    this.list.grow(this.listed);
    this.timeline.resize();
  }

  /** Goes where the address points. */
  restore(): void {
    const words = this.address.read();
    const event = words.get("event");
    this.state = {
      event: event !== null && /^\d{1,15}$/.test(event) ? Number(event) : null,
      kind: words.get("kind") ?? "",
      text: words.get("text") ?? "",
    };
    this.kind.value = this.state.kind;
    if (this.kind.selectedIndex < 0) {
      this.kind.value = "";
    }
    this.text.value = this.state.text;
    const span = /^(\d{1,19})-(\d{1,19})$/.exec(words.get("span") ?? "");
    this.timeline.show(span ? { from: Number(span[1]), to: Number(span[2]) } : null);
    this.filter();
    if (this.state.event !== null) {
      this.ask({ ask: "event", index: this.state.event });
    }
  }

  private filter(): void {
    this.state = { ...this.state, kind: this.kind.value, text: this.text.value };
    this.keep();
    this.ask({ ask: "filter", filter: { kind: this.state.kind, text: this.state.text } });
  }

  private filtered(count: number, done: boolean, which: string): void {
    this.count.textContent = `${count.toLocaleString("en")} events${done ? "" : " so far"}`;
    this.listed = count;
    if (which === this.shown) {
      this.list.grow(count);
    } else {
      this.shown = which;
      this.list.reset(count);
    }
    if (done && this.state.event !== null) {
      this.ask({ ask: "place", index: this.state.event });
    }
  }

  private open(index: number): void {
    this.state = { ...this.state, event: index };
    this.keep();
    this.ask({ ask: "event", index });
  }

  private keep(): void {
    const words = this.address.read();
    const { event, kind, text } = this.state;
    for (const [name, value] of Object.entries({ event: event === null ? "" : String(event), kind, text })) {
      if (value) {
        words.set(name, value);
      } else {
        words.delete(name);
      }
    }
    this.address.write(words);
  }

  private event(details: Details | null): void {
    if (!details) {
      fill(this.details, h("p", {}, "There is no such event."));
      return;
    }
    this.timeline.mark(details.time);
    const fields = details.fields.map(({ name, value }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
    fill(
      this.details,
      h("h2", {}, `Event ${details.index}`),
      details.remark !== null && h("p", {}, details.remark),
      h("table", {}, h("caption", {}, "What is recorded"), h("tbody", {}, ...fields)),
      h("h3", {}, "What is signed"),
      h("p", {}, "SHA-256 of an octet 0 and these octets is the leaf in the signed tree:"),
      h("p", { class: "octets" }, details.leafHash),
      h("pre", { class: "octets", tabindex: 0, "aria-label": "The leaf's octets" }, details.leaf),
    );
  }

  /** Takes a key that nothing else has taken. */
  key(event: KeyboardEvent): void {
    const target = event.target;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    if (event.key === "/" && !typing && !this.body.hidden) {
      event.preventDefault();
      this.text.focus();
    } else if (event.key === "Escape" && target === this.text) {
      this.list.element.focus();
    } else if (event.key === "Enter" && target === this.list.element) {
      this.details.focus();
    }
  }
}
