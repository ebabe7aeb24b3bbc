import { fill, h } from "../page/dom";
import { boundary } from "../page/search";
import { printable } from "../page/text";
import { type Api, linesOf, Refused } from "./api";

/** A page cannot show more than this in good time. */
const CHARACTERS_MAX = 2_000_000;
const OCTETS_MAX = 32 << 20;
const PIECES_MAX = 50_000;
/** Pieces of one stream within this time are one. */
const TOGETHER_MS = 20;
const APPENDED = 1_000;
const FRAME_MS = 50;
const SPEEDS = [1, 4, 16, 64];
/** What moves the cursor, colours or renames a terminal. */
const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-B]|[@-Z\\^_=>78])/g;
const UNFINISHED = /\u001b[^\u001b]{0,64}$/;

interface Piece {
  /** Milliseconds after the first one. */
  at: number;
  stream: string;
  text: string;
}

/** The last object of an answer. */
interface End {
  limits: { text: string }[];
  state: string;
}

/** Text as it stood on a terminal's lines: without what steers one, and with what a line was overwritten by. */
class Lines {
  private rest = "";
  /** Characters that are not shown: they steer a terminal, or were overwritten. */
  hidden = 0;

  take(text: string): string {
    const whole = this.rest + text;
    const steered = whole.replace(SEQUENCE, "");
    this.hidden += whole.length - steered.length;
    const open = UNFINISHED.exec(steered)?.index ?? steered.length;
    this.rest = steered.slice(open);
    return this.plain(steered.slice(0, open));
  }

  /** What was begun and not ended: it is shown as it is. */
  end(): string {
    const rest = this.rest;
    this.rest = "";
    return this.plain(rest);
  }

  private plain(text: string): string {
    const lines = text.replaceAll("\r\n", "\n");
    const shown = lines
      .split("\n")
      .map((line) => line.split("\r").reduce((before, over) => over + before.slice(over.length)))
      .join("\n");
    this.hidden += lines.length - shown.length;
    return shown
      .split("\n")
      .map((line) => printable(line.replaceAll("\t", "        ")))
      .join("\n");
  }
}

/** What a run's command printed, as it came. */
export class Printed {
  readonly element: HTMLDetailsElement;
  private readonly screen = h("pre", { class: "screen", tabindex: 0, "aria-label": "What it printed" });
  private readonly said = h("p", { role: "status", class: "hint" });
  private readonly time = h("input", { type: "range", min: 0, max: 1, step: 1, value: 1, "aria-label": "Shown up to", input: () => this.show(Number(this.time.value)) });
  private readonly play = h("button", { type: "button", click: () => this.toggle() }, "Play");
  private readonly speed = h("select", { "aria-label": "Speed" }, ...SPEEDS.map((each) => h("option", { value: each }, `${each} ×`)));
  private pieces: Piece[] = [];
  private shown = 0;
  private timer = 0;
  private asked = false;
  /** Whether it was still being recorded when it was asked for. */
  private isOpen = false;

  constructor(
    private readonly api: Api,
    private readonly run: string,
    private readonly gone: AbortSignal,
    private readonly opened: (open: boolean) => void,
  ) {
    this.element = h(
      "details",
      { toggle: () => void this.open() },
      h("summary", {}, "What it printed"),
      h("div", { class: "filter" }, this.play, this.speed, this.time),
      this.said,
      this.screen,
    );
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** Fetched when it is first looked at: each look is recorded. */
  private async open(): Promise<void> {
    this.opened(this.element.open);
    if (!this.element.open || (this.asked && !this.isOpen)) {
      return;
    }
    this.asked = true;
    this.isOpen = false;
    fill(this.screen);
    this.shown = 0;
    this.said.textContent = "Fetching…";
    try {
      this.said.textContent = await this.fetch();
    } catch (problem) {
      this.asked = problem instanceof Refused && problem.status !== 0 && problem.status !== 503;
      this.said.textContent = (problem as Error).message;
    }
    this.time.max = String(Math.max(1, Math.ceil(this.pieces.at(-1)?.at ?? 0)));
    this.time.value = this.time.max;
    this.show(Infinity);
  }

  /** @returns what is to be said of it */
  private async fetch(): Promise<string> {
    const answer = await this.api.ask(`/runs/${this.run}/output`, { signal: this.gone });
    const lines = new Map<string, Lines>();
    this.pieces = [];
    let first = NaN;
    let characters = 0;
    let binary = 0;
    let octets = 0;
    let end: End | null = null;
    for await (const line of linesOf(answer)) {
      const each = JSON.parse(line) as Record<string, unknown>;
      if (Array.isArray(each["limits"])) {
        end = each as unknown as End;
        break;
      }
      const stream = String(each["stream"]);
      const at = Date.parse(String(each["at"]));
      first = Number.isNaN(first) ? at : first;
      const text = typeof each["text"] === "string" ? each["text"] : "";
      octets += Number(each["bytes"]) || 0;
      binary += typeof each["base64"] === "string" ? Number(each["bytes"]) : 0;
      if (!lines.has(stream)) {
        lines.set(stream, new Lines());
      }
      const plain = lines.get(stream)!.take(text);
      characters += plain.length;
      this.add({ at: at - first, stream, text: plain });
      if (characters > CHARACTERS_MAX || octets > OCTETS_MAX || this.pieces.length > PIECES_MAX) {
        return `Only the beginning is shown; \`blackbox output ${this.run}\` prints all.`;
      }
    }
    for (const [stream, left] of lines) {
      this.add({ at: this.pieces.at(-1)?.at ?? 0, stream, text: left.end() });
    }
    const hidden = [...lines.values()].reduce((sum, each) => sum + each.hidden, 0);
    if (!end) {
      throw new Refused(0, "the service broke its answer off: this is not all");
    }
    return [
      this.pieces.length === 0 ? "Nothing was printed." : "Checked by the service against the events that seal it; times are those at which the host received it.",
      ...end.limits.map(({ text }) => `${printable(text[0]?.toUpperCase() + text.slice(1))}.`),
      ...(hidden > 0 ? [`${hidden.toLocaleString("en")} characters that steer a terminal, or were overwritten, are not shown; \`blackbox output\` prints them.`] : []),
      ...(binary > 0 ? [`${binary.toLocaleString("en")} octets that are no text are left out.`] : []),
      ...((this.isOpen = end.state === "OPEN") ? ["It is still being recorded: there may be more."] : []),
    ].join(" ");
  }

  private add(piece: Piece): void {
    const last = this.pieces.at(-1);
    if (last && last.stream === piece.stream && piece.at - last.at < TOGETHER_MS) {
      last.text += piece.text;
    } else if (piece.text !== "") {
      this.pieces.push(piece);
    }
  }

  /** Shows what had been printed by then, in ms after the first piece. */
  private show(until: number): void {
    const end = boundary(this.pieces.length, (at) => this.pieces[at]!.at <= until);
    if (end < this.shown) {
      fill(this.screen);
      this.shown = 0;
    }
    for (; this.shown < end; this.shown += Math.min(APPENDED, end - this.shown)) {
      this.screen.append(...this.pieces.slice(this.shown, Math.min(end, this.shown + APPENDED)).map(({ stream, text }) => h("span", { class: stream }, text)));
    }
    this.screen.scrollTop = this.screen.scrollHeight;
    this.time.setAttribute("aria-valuetext", `${((Number.isFinite(until) ? until : Number(this.time.max)) / 1000).toFixed(1)} seconds after the first`);
  }

  private toggle(): void {
    if (this.timer !== 0) {
      this.stop();
      return;
    }
    if (Number(this.time.value) >= Number(this.time.max)) {
      this.time.value = "0";
    }
    this.play.textContent = "Stop";
    let last = performance.now();
    let at = Number(this.time.value);
    this.timer = window.setInterval(() => {
      const now = performance.now();
      at += (now - last) * Number(this.speed.value);
      last = now;
      this.time.value = String(Math.floor(at));
      this.show(at);
      if (at >= Number(this.time.max)) {
        this.stop();
      }
    }, FRAME_MS);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }
}
