import { fill, h } from "../page/dom";
import { printable } from "../page/text";
import type { Api } from "./api";

interface Entry {
  at: string;
  subject: string | null;
  role: string | null;
  remote: string | null;
  what: string;
  run: string | null;
  said: string | null;
  status: number | null;
  bytes: number | null;
  ended: string | null;
  count: number;
  record: string;
  index: number;
}

interface Answer {
  older: number;
  entries: Entry[];
  records: { run: string; fault: string | null }[];
}

/** Who asked the service what: its own sealed record. */
export class Access {
  readonly element: HTMLElement;
  private readonly rows = h("tbody", {});
  private readonly said = h("p", { role: "status" }, "Fetching…");
  private readonly records = h("div", {});
  private readonly search: HTMLInputElement;
  private readonly gone = new AbortController();
  private entries: Entry[] = [];

  /** @param about only requests about this run */
  constructor(api: Api, about: string | null, text: string, keep: (text: string) => void) {
    this.search = h("input", {
      id: "search",
      type: "search",
      value: text,
      placeholder: "a subject, a route, a run",
      input: () => {
        keep(this.search.value);
        this.draw();
      },
    });
    this.element = h(
      "section",
      { "aria-label": "Who asked what" },
      h("h2", {}, about ? `Who asked about run ${about}` : "Who asked what"),
      about ? h("p", {}, h("a", { href: "#/access" }, "All requests")) : null,
      h("form", { class: "filter", role: "search", submit: (event) => event.preventDefault() }, h("label", { for: "search" }, "Search"), this.search),
      this.said,
      h(
        "table",
        { class: "runs" },
        h("caption", {}, "Requests, the newest first"),
        h("thead", {}, h("tr", {}, ...["at (UTC)", "who", "from", "asked", "run", "answer", "octets", "in the record"].map((name) => h("th", { scope: "col" }, name)))),
        this.rows,
      ),
      this.records,
    );
    api
      .json<Answer>(about ? `/access?run=${about}` : "/access", this.gone.signal)
      .then((answer) => this.show(answer))
      .catch((problem: unknown) => (this.said.textContent = (problem as Error).message));
  }

  end(): void {
    this.gone.abort();
  }

  focus(): void {
    this.search.focus();
  }

  private show({ entries, older, records }: Answer): void {
    this.entries = entries;
    this.said.textContent =
      `${entries.length.toLocaleString("en")} requests${older > 0 ? `; ${older.toLocaleString("en")} older ones are in \`blackbox access\`` : ""}.` +
      " Each was sealed before it was answered; what is read by commands on the service's host, or from its files, is not among them.";
    fill(
      this.records,
      h("p", {}, "The records that they are in, runs like any other: "),
      h("ul", {}, ...records.map(({ run, fault }) => h("li", {}, h("a", { href: `#/run/${run}` }, run), fault ? `: cannot be read to its end: ${printable(fault)}` : ""))),
    );
    this.draw();
  }

  private draw(): void {
    const text = this.search.value.trim().toLowerCase();
    const found = this.entries.filter((each) =>
      [each.subject, each.role, each.what, each.run, each.said, each.remote].some((word) => (word ?? "").toLowerCase().includes(text)),
    );
    fill(this.rows, ...found.map((each) => Access.row(each)));
  }

  private static row(each: Entry): HTMLElement {
    const failed = !each.status || each.status >= 400 || each.ended === "cut";
    const isId = each.run !== null && /^[0-9a-z]{26}$/.test(each.run);
    return h(
      "tr",
      { class: failed ? "notable" : null },
      h("td", {}, each.at.slice(0, 19).replace("T", " ")),
      h("td", {}, each.subject === null ? "nobody with a valid token" : `${printable(each.subject)} (${printable(each.role ?? "")})`),
      h("td", {}, printable(each.remote ?? "")),
      h("td", {}, printable(each.what) + (each.count > 1 ? ` (${each.count} times)` : "") + (each.said === null ? "" : `: ${printable(each.said).slice(0, 200)}`)),
      h("td", {}, isId ? h("a", { href: `#/run/${each.run}` }, each.run) : printable(each.run ?? "")),
      h("td", {}, each.status ? `${each.status}${each.ended === "cut" ? ", cut" : ""}` : "none"),
      h("td", { class: "number" }, each.bytes === null ? "" : each.bytes.toLocaleString("en")),
      h("td", {}, h("a", { href: `#/run/${each.record}?event=${each.index}` }, `event ${each.index}`)),
    );
  }
}
