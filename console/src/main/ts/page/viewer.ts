import { Key } from "../core/note";
import type { Progress, Report } from "../core/verify";
import { Browse } from "./browse";
import { fill, h } from "./dom";
import { nameOf } from "./identity";
import type { Answer, Details, Facts, Proof, Question } from "./messages";
import { Notebook } from "./notebook";
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
  private readonly details = h("section", { class: "details", "aria-label": "The selected event", tabindex: -1 });
  private readonly body = h("div", { class: "body", hidden: true });
  private readonly way = h("div", {});
  private readonly mark = h("button", { type: "button", click: () => this.toggleMark() }, "Mark it");
  private readonly browse: Browse;
  private readonly notebook: Notebook;
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
  private selected: number | null = null;
  private bundle: string | ArrayBuffer | null = null;
  private runExpected: string | null = null;
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
    this.browse = new Browse(
      (question) => this.ask(question),
      (event) => this.open(event),
      address,
    );
    this.notebook = new Notebook(
      (event) => this.go(event),
      () => this.tellMark(),
      address,
    );
    this.body.append(this.notebook.element, this.timeline.element, this.browse.element, this.details);
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
    this.notebook.end();
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
      case "rows":
      case "place":
      case "edges":
        this.browse.take(answer);
        break;
      case "timeline":
        this.timeline.take(answer.span, answer.lanes);
        break;
      case "at":
        if (answer.index >= 0) {
          this.go(answer.index);
        }
        break;
      case "event":
        this.event(answer.details);
        break;
      case "proof":
        this.proof(answer.proof);
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
    this.body.hidden = facts.kinds.length === 0;
    this.browse.reset(facts.kinds);
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
    this.browse.resize();
    this.timeline.resize();
  }

  /** Goes where the address points. */
  restore(): void {
    const words = this.address.read();
    const event = words.get("event");
    this.selected = event !== null && /^\d{1,15}$/.test(event) ? Number(event) : null;
    const span = /^(\d{1,19})-(\d{1,19})$/.exec(words.get("span") ?? "");
    this.timeline.show(span ? { from: Number(span[1]), to: Number(span[2]) } : null);
    this.notebook.restore();
    this.browse.restore(this.selected);
    if (this.selected !== null) {
      this.ask({ ask: "event", index: this.selected });
    } else {
      fill(this.details);
      this.timeline.mark(null);
    }
  }

  /** Opens an event, and shows where it is. */
  go(index: number): void {
    this.open(index);
    this.ask({ ask: "place", index });
  }

  private open(index: number): void {
    this.selected = index;
    this.browse.opened(index);
    this.ask({ ask: "event", index });
    const words = this.address.read();
    words.set("event", String(index));
    this.address.write(words);
  }

  private toggleMark(): void {
    if (this.selected !== null && this.notebook.has(this.selected)) {
      this.notebook.remove(this.selected);
    } else if (this.selected !== null) {
      this.notebook.add(this.selected);
    }
  }

  private tellMark(): void {
    this.mark.textContent = this.selected !== null && this.notebook.has(this.selected) ? "Take its mark away" : "Mark it";
  }

  private event(details: Details | null): void {
    if (!details) {
      fill(this.details, h("p", {}, "There is no such event."));
      return;
    }
    this.timeline.mark(details.time);
    this.tellMark();
    const fields = details.fields.map(({ name, value }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
    fill(
      this.details,
      h("h2", {}, `Event ${details.index}`),
      details.remark !== null && h("p", {}, details.remark),
      h(
        "p",
        { class: "acts" },
        this.mark,
        ...details.subjects.map((only) => h("button", { type: "button", click: () => this.browse.narrow(only) }, `Events of ${nameOf(only)}`)),
      ),
      h("table", {}, h("caption", {}, "What is recorded"), h("tbody", {}, ...fields)),
      h("h3", {}, "What is signed"),
      h("p", {}, "SHA-256 of an octet 0 and these octets is the leaf in the signed tree:"),
      h("p", { class: "octets" }, details.leafHash),
      h("pre", { class: "octets", tabindex: 0, "aria-label": "The leaf's octets" }, details.leaf),
      this.way,
    );
    fill(this.way, h("button", { type: "button", click: () => this.ask({ ask: "proof", index: details.index }) }, "Show its inclusion proof"));
  }

  private proof(proof: Proof | null): void {
    if (!proof) {
      fill(this.way, h("p", { role: "status" }, "No root that was signed follows from these events: there is no proof."));
      return;
    }
    if (proof.index !== this.selected) {
      return;
    }
    const title = h("h3", { tabindex: -1 }, "Its inclusion proof");
    const steps = proof.steps.map(({ side, hash }, at) =>
      h("tr", {}, h("td", { class: "number" }, String(at + 1)), h("td", {}, side), h("td", { class: "octets" }, hash)),
    );
    fill(
      this.way,
      title,
      h(
        "p",
        {},
        `Each of these ${steps.length} hashes, put to the left or the right of what there is so far, and SHA-256 of an octet 1 and both, lead from the leaf's hash to the root over` +
          ` ${proof.size.toLocaleString("en")} events, which the checkpoint behind them signs (RFC 9162). A file of it with keys and signatures: \`blackbox prove RUN ${proof.index}\`.`,
      ),
      h("table", { class: "runs" }, h("thead", {}, h("tr", {}, ...["step", "side", "hash"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...steps)),
      h("p", { class: "octets root" }, proof.root),
    );
    title.focus();
  }

  /** Takes a key that nothing else has taken. */
  key(event: KeyboardEvent): void {
    if (this.body.hidden || this.browse.key(event)) {
      return;
    }
    if (event.key === "Enter" && this.browse.has(event.target)) {
      this.details.focus();
    } else if (event.key === "m" && !event.ctrlKey && !event.metaKey && !event.altKey && this.browse.has(event.target) && this.selected !== null) {
      event.preventDefault(); // or it would stand in the note
      this.notebook.add(this.selected);
    }
  }
}
