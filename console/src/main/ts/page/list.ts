import { h } from "./dom";
import type { Row } from "./messages";

const ROW_PX = 24;
const HEAD_PX = 25;
const MARGIN = 40;
/** Browsers cannot lay out taller boxes; a longer list is scrolled by steps of more than one row. */
const HEIGHT_MAX = 8_000_000;

/** What a list has: its class says how wide its columns are. */
export interface Shape {
  name: string;
  label: string;
  columns: { name: string; isNumber?: boolean }[];
  isTree?: boolean;
  /** Whether its columns' heads sort it. */
  isSorted?: boolean;
}

/** Deeper rows are not moved further. */
const LEVEL_MAX = 30;

/** A table: of however many rows, only those in sight exist. */
export class VirtualList {
  private readonly heads: HTMLElement[];
  private readonly body = h("div", { class: "rows", role: "rowgroup" });
  private readonly spacer = h("div", { class: "spacer", role: "presentation" }, this.body);
  readonly element: HTMLElement;
  private count = 0;
  private selected = -1; // place in the list
  private pending = -1; // place of the row to be opened once its line is here
  private asked = "";
  private lines = new Map<number, Row>();

  constructor(
    private readonly shape: Shape,
    private readonly ask: (from: number, to: number) => void,
    private readonly select: (row: Row) => void,
    private readonly sort: (column: number) => void = () => {},
  ) {
    this.heads = shape.columns.map((column, at) => this.head(column, at));
    this.element = h(
      "div",
      {
        class: `list ${shape.name}`,
        role: shape.isTree ? "treegrid" : "grid",
        tabindex: 0,
        "aria-label": shape.label,
        "aria-colcount": shape.columns.length,
        keydown: (event) => event.target === event.currentTarget && this.key(event as KeyboardEvent),
        scroll: () => this.draw(),
      },
      h(
        "div",
        { role: "rowgroup", class: "head" },
        h("div", { role: "row", class: "row" }, ...this.heads),
      ),
      this.spacer,
    );
  }

  private head({ name, isNumber }: Shape["columns"][number], at: number): HTMLElement {
    const label = this.shape.isSorted ? h("button", { type: "button", tabindex: 0, click: () => this.sort(at) }, name) : name;
    return h("div", { role: "columnheader", class: isNumber ? "number" : null }, label);
  }

  /** Shows by which column it is sorted, as it was asked for (`-3`: by the fourth, the largest first). */
  sorted(by: string): void {
    this.heads.forEach((head, at) => {
      const here = by !== "" && Math.abs(Number(by)) === at;
      head.setAttribute("aria-sort", here ? (by.startsWith("-") ? "descending" : "ascending") : "none");
    });
  }

  /** Pixels in which rows are seen: the head of the table stays. */
  private height(): number {
    return Math.max(0, this.element.clientHeight - HEAD_PX);
  }

  /** The list has changed: there are `count` rows now. */
  reset(count: number): void {
    this.count = count;
    this.lines.clear();
    this.asked = "";
    this.selected = -1;
    this.pending = -1;
    this.spacer.style.height = `${Math.min(HEIGHT_MAX, count * ROW_PX)}px`;
    this.element.setAttribute("aria-rowcount", String(count + 1));
    this.draw();
  }

  /** More rows were found behind those that there were. */
  grow(count: number): void {
    this.count = count;
    this.spacer.style.height = `${Math.min(HEIGHT_MAX, count * ROW_PX)}px`;
    this.element.setAttribute("aria-rowcount", String(count + 1));
    this.draw();
  }

  take(from: number, lines: Row[]): void {
    this.lines = new Map(lines.map((line, at) => [from + at, line]));
    this.draw();
    if (this.pending >= 0) {
      const line = this.lines.get(this.pending);
      if (line) {
        this.pending = -1;
        this.select(line);
      }
    }
  }

  /** Selects a row and brings it into sight. */
  go(place: number, tell = true): void {
    if (this.count === 0) {
      return;
    }
    this.selected = Math.max(0, Math.min(this.count - 1, place));
    const first = this.first();
    const seen = Math.max(1, Math.floor(this.height() / ROW_PX) - 1);
    if (this.selected < first) {
      this.scrollTo(this.selected);
    } else if (this.selected >= first + seen) {
      this.scrollTo(this.selected - seen + 1);
    }
    this.draw();
    if (tell) {
      const line = this.lines.get(this.selected);
      if (line) {
        this.select(line);
      } else {
        this.pending = this.selected;
      }
    }
  }

  private scale(): number {
    const high = this.count * ROW_PX - this.height();
    const given = Math.min(HEIGHT_MAX, this.count * ROW_PX) - this.height();
    return given > 0 && high > given ? high / given : 1;
  }

  private first(): number {
    return Math.floor((this.element.scrollTop * this.scale()) / ROW_PX);
  }

  private scrollTo(row: number): void {
    this.element.scrollTop = (row * ROW_PX) / this.scale();
  }

  private draw(): void {
    const first = this.first();
    const seen = Math.ceil(this.height() / ROW_PX) + 1;
    const from = Math.max(0, first - MARGIN);
    const to = Math.min(this.count, first + seen + MARGIN);
    const key = `${from} ${to}`;
    const lacking = first < this.count && (!this.lines.has(first) || !this.lines.has(Math.min(this.count, first + seen) - 1));
    if (lacking && this.asked !== key) {
      this.asked = key;
      this.ask(from, to);
    }
    this.body.style.transform = `translateY(${this.element.scrollTop}px)`;
    const rows: HTMLElement[] = [];
    for (let place = first; place < Math.min(this.count, first + seen); place++) {
      rows.push(this.row(place, this.lines.get(place)));
    }
    this.body.replaceChildren(...rows);
    this.element.setAttribute("aria-activedescendant", this.selected < 0 ? "" : `${this.shape.name}-${this.selected}`);
  }

  private row(place: number, row: Row | undefined): HTMLElement {
    const columns = this.shape.columns;
    const cells = row?.cells ?? ["…"];
    return h(
      "div",
      {
        role: "row",
        class: row?.notable ? "row notable" : "row",
        id: `${this.shape.name}-${place}`,
        "aria-rowindex": place + 2,
        "aria-level": row?.level,
        "aria-selected": place === this.selected ? "true" : "false",
        click: () => this.go(place),
      },
      ...columns.map(({ isNumber }, at) => {
        const text = cells[at] ?? "";
        const indent = at === 0 && row?.level ? "\u2003\u2003".repeat(Math.min(LEVEL_MAX, row.level) - 1) : "";
        return h("div", { role: "gridcell", class: isNumber ? "number" : null, title: text.length > 20 ? text : null }, indent + text);
      }),
    );
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.height() / ROW_PX) - 1);
    const steps: Record<string, number> = {
      ArrowDown: this.selected + 1,
      j: this.selected + 1,
      ArrowUp: this.selected - 1,
      k: this.selected - 1,
      PageDown: this.selected + page,
      PageUp: this.selected - page,
      Home: 0,
      End: this.count - 1,
    };
    const to = event.ctrlKey || event.altKey || event.metaKey ? undefined : steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.go(to);
    }
  }
}
