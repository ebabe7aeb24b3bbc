import { fill, h } from "../page/dom";
import { printable } from "../page/text";
import { type Api, Refused, type Run } from "./api";

const EVERY_MS = 10_000;
const SHOWN = 200;

/** The list of runs, the newest first, kept up to date. */
export class Runs {
  readonly element: HTMLElement;
  private readonly rows = h("tbody", {});
  private readonly count = h("output", { for: "search" });
  private readonly problem = h("p", { class: "faults", role: "alert" });
  private readonly search: HTMLInputElement;
  private all: Run[] = [];
  private shown = SHOWN;
  private readonly more = h("button", { type: "button", hidden: true, click: () => this.showMore() }, "Show more");
  private timer = 0;
  private drawn = "";

  constructor(
    private readonly api: Api,
    text: string,
    keep: (text: string) => void,
  ) {
    this.search = h("input", {
      id: "search",
      type: "search",
      value: text,
      placeholder: "an id, a name, a state",
      input: () => {
        keep(this.search.value);
        this.shown = SHOWN;
        this.draw();
      },
    });
    this.element = h(
      "section",
      { "aria-label": "Runs" },
      h(
        "form",
        { class: "filter", role: "search", submit: (event) => event.preventDefault() },
        h("label", { for: "search" }, "Search"),
        this.search,
        this.count,
      ),
      this.problem,
      h(
        "table",
        { class: "runs" },
        h("caption", {}, "Runs, the newest first"),
        h("thead", {}, h("tr", {}, ...["run", "name", "began (UTC)", "state", "ended with", "events", "lost"].map((name) => h("th", { scope: "col" }, name)))),
        this.rows,
      ),
      this.more,
    );
    void this.refresh();
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = -1;
  }

  focus(): void {
    this.search.focus();
  }

  private showMore(): void {
    this.shown += SHOWN;
    this.draw();
  }

  /** Each question is recorded for good, so a tab that nobody sees asks none. */
  private async refresh(): Promise<void> {
    if (!document.hidden) {
      try {
        this.all = (await this.api.json<Run[]>("/runs")).reverse();
        Runs.tell(this.problem, "");
      } catch (problem) {
        const scoped = problem instanceof Refused && problem.status === 403;
        Runs.tell(
          this.problem,
          scoped ? `${problem.message}; go to one of them: add #/run/ and its id to the address` : (problem as Error).message,
        );
      }
    }
    if (this.timer >= 0) {
      this.draw();
      this.timer = window.setTimeout(() => void this.refresh(), EVERY_MS);
    }
  }

  /** Readers aloud speak what changes. */
  private static tell(element: HTMLElement, text: string): void {
    if (element.textContent !== text) {
      element.textContent = text;
    }
  }

  private draw(): void {
    const text = this.search.value.trim().toLowerCase();
    const found = this.all.filter((run) =>
      [run.run, run.name ?? "", run.state, run.startedAt ?? ""].some((each) => each.toLowerCase().includes(text)),
    );
    Runs.tell(this.count, `${found.length.toLocaleString("en")} runs`);
    this.more.hidden = found.length <= this.shown;
    const wanted = found.slice(0, this.shown);
    const drawn = JSON.stringify(wanted);
    if (drawn === this.drawn) {
      return; // whoever is in the list stays there
    }
    this.drawn = drawn;
    const focused = document.activeElement?.getAttribute("href");
    fill(this.rows, ...wanted.map((run) => Runs.row(run)));
    if (focused && document.activeElement === document.body) {
      this.rows.querySelector<HTMLElement>(`a[href="${focused}"]`)?.focus();
    }
  }

  private static row(run: Run): HTMLElement {
    const ended = run.signal !== null ? `signal ${run.signal}` : run.exitCode !== null ? `exit ${run.exitCode}` : "";
    const lost = run.lossKnown ? run.lost.toLocaleString("en") : run.state === "OPEN" ? "" : "not known";
    return h(
      "tr",
      { class: run.state === "CLOSED" ? null : "notable" },
      h("th", { scope: "row" }, h("a", { href: `#/run/${run.run}` }, run.run)),
      h("td", {}, printable(run.name ?? "")),
      h("td", {}, (run.startedAt ?? "").slice(0, 19).replace("T", " ")),
      h("td", {}, run.state),
      h("td", {}, ended),
      h("td", { class: "number" }, run.events.toLocaleString("en")),
      h("td", { class: "number" }, lost),
    );
  }
}
