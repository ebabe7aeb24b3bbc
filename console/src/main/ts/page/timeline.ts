import { fill, h } from "./dom";
import { timeText } from "./text";

const LANE_PX = 26;
const LABEL_PX = 92;
const AXIS_PX = 18;
const ZOOM = 1.5;
/** Nothing smaller is shown: a microsecond across the picture. */
const SPAN_MIN = 1e3;
const TABLE_PARTS = 10;

/** How many events of a lane fall into each of equal parts of a time, and whether one of them is notable. */
export interface Lane {
  name: string;
  counts: Uint32Array;
  notable: Uint8Array;
}

export interface Span {
  from: number;
  to: number;
}

/** What happened when: a lane for each sort of event. Times are nanoseconds after the run's first event. */
export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label": "Events over time; arrow keys move, plus and minus zoom, 0 shows all. The same as numbers is in the table below.",
    keydown: (event) => this.key(event as KeyboardEvent),
    wheel: (event) => this.wheel(event as WheelEvent),
    pointerdown: (event) => this.press(event as PointerEvent),
  });
  private readonly said = h("p", { class: "span" });
  private readonly table = h("div", {});
  private readonly numbers: HTMLDetailsElement;
  private whole: Span = { from: 0, to: 1 };
  private span: Span = { from: 0, to: 1 };
  private lanes: Lane[] = [];
  private marked: number | null = null;
  private beganNs = 0n;
  private asked = false;

  /**
   * @param ask asks for lanes of a span in so many parts
   * @param select goes to the event at a time
   * @param keep keeps the span that is shown; null for all
   */
  constructor(
    private readonly ask: (span: Span, parts: number) => void,
    private readonly select: (time: number) => void,
    private readonly keep: (span: Span | null) => void,
  ) {
    this.numbers = h("details", { toggle: () => this.tell() }, h("summary", {}, "As a table"), this.table);
    this.element = h("figure", { class: "timeline" }, this.canvas, this.said, this.numbers);
  }

  /** Another run. */
  reset(beganNs: bigint, length: number): void {
    this.beganNs = beganNs;
    this.whole = { from: 0, to: Math.max(SPAN_MIN, length) };
    this.span = { ...this.whole };
    this.lanes = [];
    this.marked = null;
    this.canvas.hidden = length < 0;
    this.draw();
  }

  /** Shows a span; null for all. */
  show(span: Span | null): void {
    const wanted = span ?? this.whole;
    const size = Math.min(this.whole.to, Math.max(SPAN_MIN, wanted.to - wanted.from));
    const from = Math.max(0, Math.min(wanted.from, this.whole.to - size));
    this.span = { from, to: from + size };
    this.request();
  }

  mark(time: number | null): void {
    this.marked = time;
    this.draw();
  }

  take(span: Span, lanes: Lane[]): void {
    this.asked = false;
    this.lanes = lanes;
    if (span.from !== this.span.from || span.to !== this.span.to) {
      this.request(); // it has been moved since
    }
    this.draw();
    this.tell();
  }

  private request(): void {
    if (!this.asked && this.canvas.clientWidth > LABEL_PX) {
      this.asked = true;
      this.ask({ ...this.span }, this.canvas.clientWidth - LABEL_PX);
    }
  }

  private move(span: Span): void {
    this.show(span);
    const all = this.span.from <= 0 && this.span.to >= this.whole.to;
    this.keep(all ? null : this.span);
  }

  private zoom(factor: number, at = 0.5): void {
    const size = (this.span.to - this.span.from) * factor;
    const from = this.span.from + at * (this.span.to - this.span.from) - at * size;
    this.move({ from, to: from + size });
  }

  private pan(share: number): void {
    const by = (this.span.to - this.span.from) * share;
    this.move({ from: this.span.from + by, to: this.span.to + by });
  }

  private key(event: KeyboardEvent): void {
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.25),
      ArrowRight: () => this.pan(0.25),
      "+": () => this.zoom(1 / ZOOM),
      "=": () => this.zoom(1 / ZOOM),
      "-": () => this.zoom(ZOOM),
      "0": () => this.move(this.whole),
      Enter: () => this.select((this.span.from + this.span.to) / 2),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  }

  /** Where in the picture, from 0 to 1. */
  private share(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left - LABEL_PX) / Math.max(1, box.width - LABEL_PX)));
  }

  private wheel(event: WheelEvent): void {
    if (event.ctrlKey || event.shiftKey) {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, this.share(event));
    }
  }

  /** A click goes to what is there; dragging shows what was dragged over. */
  private press(down: PointerEvent): void {
    const from = this.share(down);
    const size = this.span.to - this.span.from;
    this.canvas.setPointerCapture(down.pointerId);
    this.canvas.onpointerup = (up) => {
      this.canvas.onpointerup = null;
      const to = this.share(up);
      const [a, b] = [Math.min(from, to), Math.max(from, to)];
      const start = this.span.from;
      if (b - a < 0.01) {
        this.select(start + a * size);
      } else {
        this.move({ from: start + a * size, to: start + b * size });
      }
    };
  }

  resize(): void {
    this.request();
    this.draw();
  }

  private at(time: number): string {
    return timeText(this.beganNs + BigInt(Math.round(time)));
  }

  private draw(): void {
    const width = this.canvas.clientWidth;
    const height = this.lanes.length * LANE_PX + AXIS_PX;
    const scale = globalThis.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    if (!pen || width <= LABEL_PX) {
      return;
    }
    const style = getComputedStyle(this.canvas);
    const colour = (name: string): string => style.getPropertyValue(name);
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.lanes.forEach(({ name, counts, notable }, at) => {
      const base = (at + 1) * LANE_PX;
      pen.fillStyle = colour("--soft");
      pen.fillText(name, 0, base - LANE_PX / 2);
      pen.fillStyle = colour("--line");
      pen.fillRect(LABEL_PX, base - 1, width - LABEL_PX, 1);
      const most = counts.reduce((max, count) => Math.max(max, count), 1);
      for (let x = 0; x < counts.length; x++) {
        if (counts[x]! > 0) {
          // Few are seen beside many.
          const high = Math.max(3, (Math.log1p(counts[x]!) / Math.log1p(most)) * (LANE_PX - 4));
          pen.fillStyle = colour(notable[x] ? "--bad" : "--bar");
          pen.fillRect(LABEL_PX + x, base - 1 - high, 1, high);
        }
      }
    });
    const size = this.span.to - this.span.from;
    if (this.marked !== null && this.marked >= this.span.from && this.marked <= this.span.to) {
      pen.fillStyle = colour("--text");
      pen.fillRect(LABEL_PX + ((this.marked - this.span.from) / size) * (width - LABEL_PX), 0, 1.5, this.lanes.length * LANE_PX);
    }
    pen.fillStyle = colour("--soft");
    const axis = this.lanes.length * LANE_PX + AXIS_PX / 2;
    pen.fillText(this.at(this.span.from).slice(11), LABEL_PX, axis);
    const end = this.at(this.span.to).slice(11);
    pen.fillText(end, width - pen.measureText(end).width, axis);
  }

  /** The same as numbers. */
  private tell(): void {
    const all = this.lanes.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0));
    this.said.textContent = `${all.reduce((sum, count) => sum + count, 0).toLocaleString("en")} events from ${this.at(this.span.from)} to ${this.at(this.span.to)}`;
    if (!this.numbers.open) {
      return;
    }
    const parts = Array.from({ length: TABLE_PARTS }, (_, part) => part);
    const rows = this.lanes.map(({ name, counts }) => {
      const sums = parts.map((part) =>
        counts
          .subarray(Math.floor((part * counts.length) / TABLE_PARTS), Math.floor(((part + 1) * counts.length) / TABLE_PARTS))
          .reduce((sum, count) => sum + count, 0),
      );
      return h("tr", {}, h("th", { scope: "row" }, name), ...sums.map((sum) => h("td", { class: "number" }, sum.toLocaleString("en"))));
    });
    const size = (this.span.to - this.span.from) / TABLE_PARTS;
    fill(
      this.table,
      h(
        "table",
        { class: "runs" },
        h("caption", {}, "Events of each sort in tenths of the time shown"),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "from"), ...parts.map((part) => h("th", { scope: "col", class: "number" }, this.at(this.span.from + part * size).slice(11, 23))))),
        h("tbody", {}, ...rows),
      ),
    );
  }
}
