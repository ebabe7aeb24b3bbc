import { fill, h } from "./dom";
import { nameOf } from "./identity";
import { type Shape, VirtualList } from "./list";
import { EgressMap } from "./map";
import type { Answer, Facts, Filter, Only, Question, View } from "./messages";
import type { Address } from "./viewer";

const number = (name: string): Shape["columns"][number] => ({ name, isNumber: true });
const text = (name: string): Shape["columns"][number] => ({ name });

const SHAPES: Record<View, Shape> = {
  events: { name: "events", label: "Events", columns: ["event", "time (UTC)", "kind", "process", "what"].map(text) },
  processes: {
    name: "processes",
    label: "Processes",
    columns: [text("command, as it calls itself"), text("program"), number("pid"), text("whose"), text("first seen (UTC)"), number("seen for"), text("ended"), number("events"), number("written"), number("failed")],
    isTree: true,
  },
  files: {
    name: "files",
    label: "Files",
    columns: [text("path"), text("what was done"), number("read"), number("written"), number("failed"), text("by")],
    isSorted: true,
  },
  network: {
    name: "network",
    label: "Network",
    columns: [text("peer"), text("name"), text("by"), number("flows"), number("out"), number("in"), text("decisions"), number("calls")],
    isSorted: true,
  },
};
const VIEWS = Object.keys(SHAPES) as View[];
const WHAT: Record<View, [string, string]> = {
  events: ["event", "events"],
  processes: ["process", "processes"],
  files: ["path", "paths"],
  network: ["peer", "peers"],
};
const ONLY = /^(process|file|peer):(.{1,20000})$/su;

/** The lists of a run, and what of them is shown. */
export class Browse {
  readonly element = h("div", { class: "browse" });
  private readonly kind = h("select", { id: "kind", change: () => this.changed() });
  private readonly kindLabel = h("label", { for: "kind" }, "Kind");
  private readonly text = h("input", { id: "text", type: "search", placeholder: "a path, an argument, a host", input: () => this.changed() });
  private readonly count = h("output", { for: "kind text" });
  private readonly chip = h("button", { type: "button", hidden: true, click: () => this.narrow(null) });
  private readonly tabs: Map<View, HTMLButtonElement>;
  private readonly lists: Map<View, VirtualList>;
  private readonly panel = h("div", { role: "tabpanel", id: "panel" });
  private readonly map = new EgressMap();
  private view: View = "events";
  private filter: Filter = { kind: "", text: "", only: null };
  private readonly texts = new Map<View, string>(); // of the lists that are not in sight
  private sort = "";
  private event: number | null = null;
  private isReady = false;
  /** What the list in sight was asked for. */
  private shown = "";
  private listed = 0;

  /**
   * @param ask asks the thread that has the events
   * @param select opens an event
   */
  constructor(
    private readonly ask: (question: Question) => void,
    private readonly select: (event: number) => void,
    private readonly address: Address,
  ) {
    this.tabs = new Map(
      VIEWS.map((view) => [
        view,
        h("button", { type: "button", role: "tab", id: `tab-${view}`, "aria-controls": "panel", click: () => this.go(view), keydown: (event) => this.step(event as KeyboardEvent) }, SHAPES[view].label),
      ]),
    );
    this.lists = new Map(
      VIEWS.map((view) => [
        view,
        new VirtualList(
          SHAPES[view],
          (from, to) => this.ask({ ask: "rows", view, from, to }),
          (row) => this.select(row.event),
          (column) => this.order(column),
        ),
      ]),
    );
    fill(
      this.element,
      h("div", { class: "tabs", role: "tablist", "aria-label": "What is listed" }, ...this.tabs.values()),
      h("form", { class: "filter", role: "search", submit: (event) => event.preventDefault() }, this.kindLabel, this.kind, h("label", { for: "text" }, "Text"), this.text, this.chip, this.count),
      this.panel,
    );
  }

  private get list(): VirtualList {
    return this.lists.get(this.view)!;
  }

  /** Another run, or the same one verified again. */
  reset(kinds: Facts["kinds"]): void {
    this.isReady = kinds.length > 0;
    fill(
      this.kind,
      h("option", { value: "" }, "all kinds"),
      ...kinds.map(({ kind, events }) => h("option", { value: kind }, `${kind} (${events.toLocaleString("en")})`)),
    );
    this.shown = "\n";
    fill(this.map.element);
  }

  /** Goes where the address points. */
  restore(event: number | null): void {
    if (!this.isReady) {
      return; // what the address says is kept until there is something to show
    }
    const words = this.address.read();
    const only = ONLY.exec(words.get("only") ?? "");
    this.event = event;
    this.filter = {
      kind: words.get("kind") ?? "",
      text: words.get("text") ?? "",
      only: only ? { of: only[1] as Only["of"], key: only[2]! } : null,
    };
    const view = words.get("view") as View;
    this.view = VIEWS.includes(view) ? view : "events";
    this.sort = SHAPES[this.view].isSorted && /^-?\d$/.test(words.get("sort") ?? "") ? words.get("sort")! : "";
    this.show();
  }

  private go(view: View): void {
    this.texts.set(this.view, this.filter.text);
    this.view = view;
    this.sort = "";
    this.filter = { ...this.filter, text: this.texts.get(view) ?? "" };
    this.show();
  }

  /** Shows only the events that are about something; null for all. */
  narrow(only: Only | null): void {
    this.view = "events";
    this.filter = { kind: "", text: "", only };
    this.show();
    this.list.element.focus();
  }

  private order(column: number): void {
    const largest = SHAPES[this.view].columns[column]!.isNumber;
    const [one, other] = largest ? [`-${column}`, String(column)] : [String(column), `-${column}`];
    this.sort = this.sort === one ? other : one;
    this.show();
  }

  private changed(): void {
    this.filter = { ...this.filter, kind: this.kind.value, text: this.text.value };
    this.show();
  }

  private show(): void {
    this.kind.value = this.filter.kind;
    if (this.kind.selectedIndex < 0) {
      this.kind.value = "";
      this.filter = { ...this.filter, kind: "" };
    }
    if (this.text.value !== this.filter.text) {
      this.text.value = this.filter.text;
    }
    const isEvents = this.view === "events";
    this.kind.hidden = this.kindLabel.hidden = !isEvents;
    this.chip.hidden = !isEvents || this.filter.only === null;
    this.chip.textContent = this.filter.only ? `only ${nameOf(this.filter.only)} ✕` : "";
    this.chip.setAttribute("aria-label", this.filter.only ? `Only ${nameOf(this.filter.only)}: show all again` : "Show all");
    for (const [view, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(view === this.view));
      tab.tabIndex = view === this.view ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${this.view}`);
    const wanted = [...(this.view === "network" ? [this.map.element] : []), this.list.element];
    if (wanted.some((each) => each.parentNode !== this.panel) || this.panel.childElementCount !== wanted.length) {
      fill(this.panel, ...wanted);
      this.shown = "\n";
      this.count.textContent = "Gathering…"; // of a million events that takes seconds, once
    }
    this.list.sorted(this.sort);
    if (this.view === "network" && this.map.element.childElementCount === 0) {
      this.ask({ ask: "edges" });
    }
    this.ask({ ask: "filter", view: this.view, filter: this.filter, sort: this.sort });
    this.keep();
  }

  private keep(): void {
    const words = this.address.read();
    const { kind, text, only } = this.filter;
    const state = {
      view: this.view === "events" ? "" : this.view,
      kind,
      text,
      only: only ? `${only.of}:${only.key}` : "",
      sort: this.sort,
    };
    for (const [name, value] of Object.entries(state)) {
      if (value) {
        words.set(name, value);
      } else {
        words.delete(name);
      }
    }
    this.address.write(words);
  }

  take(answer: Answer): void {
    switch (answer.say) {
      case "filtered":
        if (answer.view === this.view) {
          this.filtered(answer.count, answer.done, JSON.stringify([answer.view, answer.filter, answer.sort]));
        }
        break;
      case "rows":
        this.lists.get(answer.view)!.take(answer.from, answer.rows);
        break;
      case "place":
        if (this.view === "events" && answer.isThere) {
          this.list.go(answer.place, false);
        }
        break;
      case "edges":
        this.map.show(answer.edges, answer.of);
        break;
    }
  }

  private filtered(count: number, done: boolean, which: string): void {
    this.count.textContent = `${count.toLocaleString("en")} ${WHAT[this.view][count === 1 ? 0 : 1]}${done ? "" : " so far"}`;
    this.listed = count;
    if (which === this.shown) {
      this.list.grow(count);
    } else {
      this.shown = which;
      this.list.reset(count);
    }
    if (done && this.event !== null && this.view === "events") {
      this.ask({ ask: "place", index: this.event });
    }
  }

  /** Another event is open. */
  opened(event: number): void {
    this.event = event;
  }

  /** Draws again what depends on the window's size. */
  resize(): void {
    this.list.grow(this.listed);
  }

  /** Between tabs. */
  private step(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) {
      event.preventDefault();
      this.go(VIEWS[(VIEWS.indexOf(this.view) + by + VIEWS.length) % VIEWS.length]!);
      this.tabs.get(this.view)!.focus();
    }
  }

  /** Takes a key that nothing else has taken. @returns whether it was one of these */
  key(event: KeyboardEvent): boolean {
    const target = event.target;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
    const view = typing || event.ctrlKey || event.altKey || event.metaKey ? undefined : VIEWS[Number(event.key) - 1];
    if (event.key === "/" && !typing) {
      event.preventDefault();
      this.text.focus();
    } else if (event.key === "Escape" && target === this.text) {
      this.list.element.focus();
    } else if (view) {
      this.go(view);
      this.list.element.focus();
    } else {
      return false;
    }
    return true;
  }

  /** Whether it is the list that has the keys. */
  has(target: EventTarget | null): boolean {
    return target === this.list.element;
  }
}
