import { fill, h } from "../page/dom";
import { printable } from "../page/text";
import type { Api } from "./api";

const ROWS = 500;
const RUN_COLUMN = "run";
const INDEX_COLUMN = "index";

/** Questions that people begin with. */
const EXAMPLES: [string, string][] = [
  ["Programs that were run, and how often", "select exe, count(*) as times, count(distinct run) as runs\nfrom events\nwhere kind = 'process.exec' and ret = 0 and actor is distinct from 'supervisor'\ngroup by all order by times desc limit 50"],
  ["Whom runs talked to", "select run, protocol, remote_ip, remote_port, any_value(host) as host, sum(bytes_out) as bytes_out, sum(bytes_in) as bytes_in\nfrom events\nwhere kind = 'net.flow' and source = 'host' and remote_ip is not null\ngroup by all order by bytes_out desc limit 100"],
  ["What was forbidden", "select run, \"index\", at_ns, kind, comm, path, ret\nfrom events\nwhere ret in (-1, -13) and actor is distinct from 'supervisor'\norder by at_ns desc limit 100"],
  ["What policies refused", "select run, \"index\", what, host, remote_ip, remote_port, detail\nfrom events\nwhere kind = 'egress.decision' and what in ('deny', 'budget')\norder by at_ns desc limit 100"],
  ["Alerts", "select run, \"index\", what as rule, detail\nfrom events\nwhere kind = 'recorder.alert'\norder by at_ns desc limit 100"],
];

interface Answer {
  columns: string[];
  rows: unknown[][];
  complete: boolean;
  leftOut: { run: string; file: string; why: string }[];
}

interface Tables {
  tables: { table: string; description: string; columns: { name: string; type: string }[] }[];
}

/** Whole numbers that a browser would round stay as they were sent. */
function exactly(json: string): Answer {
  const keep = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
  return JSON.parse(json, keep as Parameters<typeof JSON.parse>[1]) as Answer;
}

/** Questions in SQL; the one that is asked is in the address, so that it can be kept as a bookmark. */
export class Sql {
  readonly element: HTMLElement;
  private readonly select: HTMLTextAreaElement;
  private readonly said = h("p", { role: "status" });
  private readonly result = h("div", { class: "result", tabindex: 0, role: "region", "aria-label": "The answer" });
  private readonly tables: HTMLDetailsElement;
  private readonly gone = new AbortController();
  private asking: AbortController | null = null;

  constructor(
    private readonly api: Api,
    text: string,
    private readonly keep: (text: string) => void,
  ) {
    this.select = h("textarea", {
      id: "select",
      rows: 6,
      spellcheck: "false",
      "aria-describedby": "sql-why",
      keydown: (event) => {
        const { key, ctrlKey, metaKey } = event as KeyboardEvent;
        if (key === "Enter" && (ctrlKey || metaKey)) {
          event.preventDefault();
          void this.ask();
        }
      },
    });
    this.select.value = text;
    const example = h(
      "select",
      {
        id: "example",
        change: () => {
          this.select.value = EXAMPLES[Number(example.value)]?.[1] ?? this.select.value;
          example.value = "";
          this.select.focus();
        },
      },
      h("option", { value: "" }, "…"),
      ...EXAMPLES.map(([name], at) => h("option", { value: at }, name)),
    );
    this.tables = h("details", { toggle: () => void this.describe() }, h("summary", {}, "Tables and columns"));
    this.element = h(
      "section",
      { "aria-label": "SQL" },
      h("h2", {}, "SQL"),
      h("p", { id: "sql-why", class: "hint" }, "One SELECT in DuckDB's dialect, over what ingest has committed: it reads nothing else, and changes nothing. It is recorded. Control and Enter ask it; the address has it, for a bookmark."),
      h("p", { class: "filter" }, h("label", { for: "example" }, "Begin with"), example),
      h("label", { for: "select" }, "Query"),
      this.select,
      h("p", {}, h("button", { type: "button", click: () => void this.ask() }, "Ask")),
      this.tables,
      this.said,
      this.result,
    );
    if (text !== "") {
      this.said.textContent = "This query came with the address. Read it, then ask it.";
    }
  }

  end(): void {
    this.gone.abort();
  }

  focus(): void {
    this.select.focus();
  }

  private async describe(): Promise<void> {
    if (!this.tables.open || this.tables.childElementCount > 1) {
      return;
    }
    const list = h("div", {}, "Fetching…");
    this.tables.append(list);
    try {
      const { tables } = await this.api.json<Tables>("/sql", this.gone.signal);
      fill(
        list,
        ...tables.map(({ table, description, columns }) =>
          h("div", {}, h("h3", {}, table), h("p", {}, description), h("p", { class: "octets" }, columns.map(({ name, type }) => `${name} ${type}`).join(", "))),
        ),
      );
    } catch (problem) {
      list.textContent = (problem as Error).message;
    }
  }

  private async ask(): Promise<void> {
    const select = this.select.value.trim();
    if (select === "") {
      return;
    }
    this.keep(select);
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.said.textContent = "Asking…";
    const begun = performance.now();
    try {
      const answer = await this.api.ask("/sql", { method: "POST", body: { select, limit: ROWS }, signal: AbortSignal.any([this.gone.signal, asking.signal]), wait: 40_000 });
      this.show(exactly(await answer.text()), performance.now() - begun);
    } catch (problem) {
      if (!asking.signal.aborted) {
        this.said.textContent = (problem as Error).message;
        fill(this.result);
      }
    }
  }

  private show({ columns, rows, complete, leftOut }: Answer, ms: number): void {
    this.said.textContent = [
      `${rows.length.toLocaleString("en")} rows${complete ? "" : ", and there are more"}, ${(ms / 1000).toFixed(1)} s.`,
      ...leftOut.map(({ run, file, why }) => `Left out of run ${run}: ${printable(file)}, ${printable(why)}.`),
    ].join(" ");
    const run = columns.indexOf(RUN_COLUMN);
    const index = columns.indexOf(INDEX_COLUMN);
    fill(
      this.result,
      h(
        "table",
        { class: "runs" },
        h("caption", {}, "The answer"),
        h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, printable(name))))),
        h(
          "tbody",
          {},
          ...rows.map((row) => h("tr", {}, ...row.map((value, at) => h("td", { class: typeof value === "number" ? "number" : null }, Sql.cell(value, row[run], at === index ? value : null))))),
        ),
      ),
    );
  }

  /** A value; the id of a run, and an event's index beside one, lead there. */
  private static cell(value: unknown, run: unknown, event: unknown): Node | string {
    const text = value === null ? "" : printable(typeof value === "object" ? JSON.stringify(value) : String(value)).slice(0, 2_000);
    const isRun = typeof run === "string" && /^[0-9a-z]{26}$/.test(run);
    return isRun && value === run ? h("a", { href: `#/run/${run}` }, text) : isRun && typeof event === "number" ? h("a", { href: `#/run/${run}?event=${event}` }, text) : text;
  }
}
