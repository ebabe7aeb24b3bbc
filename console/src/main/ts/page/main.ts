import { printable } from "./text";
import { Key } from "../core/note";
import type { Progress, Report } from "../core/verify";
import { fill, h } from "./dom";
import { EventList } from "./list";
import type { Answer, Details, Facts, Question } from "./messages";
import { runThread } from "./thread";

const WORDS: Record<Report["verdict"], string> = {
  VERIFIED: "Every event is signed, in its place and unchanged, and the run ends where it was closed.",
  TAMPERED: "Something in this bundle is not what was signed. What is listed below is where; nothing after it is shown.",
  TRUNCATED: "What is here holds, but the run is not here to its end.",
  UNCHECKED: "This page cannot judge this bundle; `blackbox verify` can.",
};

/** What the address says: the selected event and the filter. */
interface State {
  event: number | null;
  kind: string;
  text: string;
}

function stateOf(hash: string): State {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const event = words.get("event");
  return {
    event: event !== null && /^\d{1,15}$/.test(event) ? Number(event) : null,
    kind: words.get("kind") ?? "",
    text: words.get("text") ?? "",
  };
}

function hashOf(state: State): string {
  const words = new URLSearchParams();
  if (state.event !== null) {
    words.set("event", String(state.event));
  }
  if (state.kind) {
    words.set("kind", state.kind);
  }
  if (state.text) {
    words.set("text", state.text);
  }
  return `#${words}`;
}

class Page {
  private thread: Worker | null = null;
  private readonly program: string;
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
  private readonly main = h("main", { hidden: true });
  private readonly list: EventList;
  private state: State = stateOf(location.hash);
  private bundle: string | ArrayBuffer | null = null;
  private shown = "";

  constructor(code: string) {
    this.program = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.list = new EventList(
      (from, to) => this.ask({ ask: "lines", from, to }),
      (line) => this.open(line.index),
    );
    this.build();
    addEventListener("hashchange", () => this.restore());
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.list.grow(this.listed));
  }

  private listed = 0;

  private build(): void {
    this.main.append(
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
    document.body.replaceChildren(
      h(
        "header",
        {},
        h("h1", {}, "Blackbox evidence"),
        this.badge,
        this.bar,
        this.meaning,
        this.findings,
        this.facts,
        trust,
      ),
      this.main,
    );
  }

  /** Shows the bundle that the page carries, or asks for one. */
  start(carried: string): void {
    if (carried.trim() !== "") {
      this.bundle = carried;
      this.verify();
      return;
    }
    this.say("NONE", "No bundle yet", "Choose the ZIP that `blackbox export --format bundle` wrote, or drop it here.");
    this.bar.hidden = true;
    const file = h("input", {
      type: "file",
      id: "file",
      accept: ".zip",
      change: () => void this.load(file.files?.[0]),
    });
    this.facts.before(h("p", { class: "choose" }, h("label", { for: "file" }, "Bundle "), file));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      void this.load(event.dataTransfer?.files[0]);
    });
  }

  private async load(file: File | undefined): Promise<void> {
    if (file) {
      try {
        this.bundle = await file.arrayBuffer();
      } catch {
        this.fail(`${file.name} cannot be read`);
        return;
      }
      this.verify();
    }
  }

  private verify(): void {
    const keys = this.keys.value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    const faults = Page.faults(keys);
    fill(this.keyFaults, ...faults.map((each) => h("p", {}, each)));
    if (this.bundle === null || faults.length > 0) {
      return;
    }
    this.say("CHECKING", "Checking…", "");
    this.bar.hidden = false;
    this.main.hidden = true;
    fill(this.findings);
    fill(this.facts);
    this.renew();
    this.ask({ ask: "verify", bundle: this.bundle, keys });
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

  private say(verdict: string, text: string, meaning: string): void {
    this.badge.textContent = text;
    this.badge.dataset["verdict"] = verdict;
    this.meaning.textContent = meaning;
    document.title = `${text} – Blackbox evidence`;
  }

  private fail(what: string): void {
    this.bar.hidden = true;
    this.say("TAMPERED", "NOT VERIFIED", "");
    fill(this.findings, h("li", {}, printable(what)));
  }

  private take(answer: Answer): void {
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
    this.bar.hidden = true;
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
      ...row(
        "Command",
        ...(Array.isArray(command) ? [printable(command.map(String).join(" "))] : []),
      ),
      ...row("Time", ...(facts.began ? [`${facts.began} to ${facts.ended ?? "no close"}`] : [])),
      ...row("Events", `${report.events.toLocaleString("en")}, covered by ${report.checkpoints} signatures`),
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
      ...row("Took", `${(ms / 1000).toFixed(1)} s in this browser, without a network`),
    );
    fill(
      this.kind,
      h("option", { value: "" }, "all kinds"),
      ...facts.kinds.map(({ kind, events }) => h("option", { value: kind }, `${kind} (${events.toLocaleString("en")})`)),
    );
    this.main.hidden = facts.kinds.length === 0;
    this.shown = "\n";
    this.listed = facts.kinds.reduce((sum, each) => sum + each.events, 0);
    this.list.reset(this.listed);
    this.restore();
    const holds = report.verdict === "VERIFIED";
    const words = WORDS[report.verdict];
    this.say(
      report.verdict,
      holds && !report.trusted ? "VERIFIED, by its own keys" : report.verdict,
      holds && !report.trusted ? `${words} Who made it is not known: no key was given.` : words,
    );
  }

  /** Goes where the address points. */
  private restore(): void {
    this.state = stateOf(location.hash);
    this.kind.value = this.state.kind;
    if (this.kind.selectedIndex < 0) {
      this.kind.value = "";
    }
    this.text.value = this.state.text;
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
    const hash = hashOf(this.state);
    if (hash !== (location.hash || "#")) {
      history.replaceState(null, "", hash);
    }
  }

  private event(details: Details | null): void {
    if (!details) {
      fill(this.details, h("p", {}, "There is no such event."));
      return;
    }
    fill(
      this.details,
      h("h2", {}, `Event ${details.index}`),
      details.remark !== null && h("p", {}, details.remark),
      h(
        "table",
        {},
        h("caption", {}, "What is recorded"),
        h("tbody", {}, ...details.fields.map(({ name, value }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)))),
      ),
      h("h3", {}, "What is signed"),
      h("p", {}, "SHA-256 of an octet 0 and these octets is the leaf in the signed tree:"),
      h("p", { class: "octets" }, details.leafHash),
      h("pre", { class: "octets", tabindex: 0, "aria-label": "The leaf's octets" }, details.leaf),
    );
  }

  private key(event: KeyboardEvent): void {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      this.text.focus();
    } else if (event.key === "Escape" && typing) {
      this.list.element.focus();
    } else if (event.key === "Enter" && event.target === this.list.element) {
      this.details.focus();
    }
  }
}

if (typeof document === "undefined") {
  runThread();
} else {
  const carried = document.getElementById("bundle")?.textContent ?? "";
  new Page(document.currentScript!.textContent!).start(carried); // of what was in the page, nothing stays
}
