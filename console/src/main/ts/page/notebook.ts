import { fill, h } from "./dom";
import type { Address } from "./viewer";

const MARKS_MAX = 50;
const NOTE_MAX = 200;
const KEEP_MS = 300;
const MARK = /^(\d{1,15})(?: (.*))?$/s;

/** Marked events with what was noted of them: in the address, so that whoever is given it has them too. */
export class Notebook {
  readonly element = h("section", { class: "notebook", "aria-label": "Marked events", hidden: true });
  private timer = 0;
  private marks: { event: number; note: string }[] = [];

  /** @param changed is called when a mark was set or taken away */
  constructor(
    private readonly open: (event: number) => void,
    private readonly changed: () => void,
    private readonly address: Address,
  ) {}

  /** The address is another view's from now on. */
  end(): void {
    clearTimeout(this.timer);
  }

  /** Takes what the address has. */
  restore(): void {
    this.marks = [];
    for (const word of this.address.read().getAll("mark").slice(0, MARKS_MAX)) {
      const match = MARK.exec(word);
      if (match && !this.has(Number(match[1]))) {
        this.marks.push({ event: Number(match[1]), note: (match[2] ?? "").slice(0, NOTE_MAX) });
      }
    }
    this.draw();
  }

  has(event: number): boolean {
    return this.marks.some((mark) => mark.event === event);
  }

  /** Marks an event, and goes to its note. */
  add(event: number): void {
    if (!this.has(event) && this.marks.length < MARKS_MAX) {
      this.marks = [...this.marks, { event, note: "" }].sort((a, b) => a.event - b.event);
      this.renewed();
    }
    this.element.querySelector<HTMLElement>(`#note-${event}`)?.focus();
  }

  remove(event: number): void {
    const at = this.marks.findIndex((mark) => mark.event === event);
    const held = this.element.contains(document.activeElement);
    this.marks = this.marks.filter((mark) => mark.event !== event);
    this.renewed();
    if (held) {
      const next = this.element.querySelectorAll<HTMLElement>("input");
      next[Math.min(at, next.length - 1)]?.focus();
    }
  }

  private renewed(): void {
    this.keep();
    this.draw();
    this.changed();
  }

  private keep(): void {
    const words = this.address.read();
    words.delete("mark");
    this.marks.forEach(({ event, note }) => words.append("mark", note === "" ? String(event) : `${event} ${note}`));
    this.address.write(words);
  }

  private draw(): void {
    this.element.hidden = this.marks.length === 0;
    const rows = this.marks.map((mark) => {
      const note = h("input", {
        id: `note-${mark.event}`,
        type: "text",
        value: mark.note,
        maxlength: NOTE_MAX,
        placeholder: "what is to be noted",
        "aria-label": `Note on event ${mark.event}`,
        input: () => {
          mark.note = note.value;
          clearTimeout(this.timer);
          this.timer = window.setTimeout(() => this.keep(), KEEP_MS); // browsers refuse too many changes of an address
        },
      });
      return h(
        "li",
        {},
        h("button", { type: "button", click: () => this.open(mark.event) }, `Event ${mark.event}`),
        note,
        h("button", { type: "button", "aria-label": `Take the mark of event ${mark.event} away`, click: () => this.remove(mark.event) }, "✕"),
      );
    });
    fill(
      this.element,
      h("h2", {}, "Marked"),
      h("p", { class: "hint" }, `By whoever made this address, and no part of the evidence. Marks are in the address and nowhere else: whoever is given it sees them.${this.marks.length === MARKS_MAX ? " It cannot carry more." : ""}`),
      h("ul", {}, ...rows),
    );
  }
}
