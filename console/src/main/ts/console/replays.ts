import { fill, h } from "../page/dom";
import { printable } from "../page/text";
import { type Api, Refused } from "./api";

/** Both sides of a difference, as a verdict names them (schemas/replay.md). */
interface Difference {
  index?: number;
  class?: string;
  kind?: string;
  subject?: string;
  expected: string | null;
  actual: string | null;
  causes?: string[];
}

interface Verdict {
  at: string | null;
  tier: string | null;
  verdict: string;
  equivalence: string | null;
  pathDifferences: number;
  effectDifferences: number;
  leaf: number | null;
  fault: string | null;
  said?: {
    comparedEvents: number;
    firstDivergence: Difference | null;
    firstPathDifference: Difference | null;
    effects: Difference[];
    rules: string[];
    refusals: { class: string; what: string; mend: string }[];
    compared: string[];
    notCompared: string[];
    message: string | null;
  };
}

interface Answer {
  /** How the log of runs is, without which there is no evidence. */
  log: "holds" | "absent" | "broken";
  verdicts: Verdict[];
}

/** The verdicts on replays of a run, with both sides of what differed. */
export class Replays {
  readonly element: HTMLDetailsElement;
  private readonly body = h("div", {});
  private asked = false;

  constructor(
    private readonly api: Api,
    private readonly run: string,
    private readonly gone: AbortSignal,
    private readonly opened: (open: boolean) => void,
    private readonly go: (event: number) => void,
  ) {
    this.element = h("details", { toggle: () => void this.open() }, h("summary", {}, "Replays"), this.body);
  }

  private async open(): Promise<void> {
    this.opened(this.element.open);
    if (!this.element.open || this.asked) {
      return;
    }
    this.asked = true;
    fill(this.body, h("p", { role: "status" }, "Fetching…"));
    try {
      const { log, verdicts } = await this.api.json<Answer>(`/runs/${this.run}/verdicts`, this.gone);
      fill(
        this.body,
        log === "broken" && h("p", { class: "faults" }, "The log of runs does not hold: no verdict here is evidence."),
        verdicts.length === 0 && h("p", {}, log === "holds" ? "Nobody has replayed this run here." : "There is no verdict, and no log of runs that could say whether there was one."),
        ...verdicts.reverse().map((each) => this.verdict(each)),
        h("p", {}, "To replay it: ", h("code", {}, `blackbox replay ${this.run}`), ". To land in it: ", h("code", {}, `blackbox replay ${this.run} --to EVENT`), "."),
      );
    } catch (problem) {
      this.asked = problem instanceof Refused && problem.status !== 0 && problem.status !== 503;
      fill(this.body, h("p", { role: "alert", class: "faults" }, (problem as Error).message));
    }
  }

  private verdict(each: Verdict): HTMLElement {
    const said = each.said;
    const level = each.equivalence ? ` (${each.equivalence})` : "";
    const list = (title: string, lines: string[] | undefined): HTMLElement | false =>
      lines !== undefined && lines.length > 0 && h("details", {}, h("summary", {}, `${title} (${lines.length})`), h("ul", {}, ...lines.map((line) => h("li", {}, printable(line)))));
    return h(
      "section",
      { class: "verdict" },
      h("h3", {}, `${each.fault === null ? "" : "NOT EVIDENCE: "}${printable(each.verdict)}${level}, ${printable(each.tier ?? "")} tier, ${(each.at ?? "at an unknown time").slice(0, 19)}`),
      each.fault !== null
        ? h("p", { class: "faults" }, printable(each.fault))
        : h("p", {}, `Signed: leaf ${each.leaf} of the log of runs.${said && said.comparedEvents > 0 ? ` ${said.comparedEvents.toLocaleString("en")} events compared${each.equivalence !== null || each.effectDifferences + each.pathDifferences > 0 ? `; ${each.effectDifferences} effects and ${each.pathDifferences} steps of the path differ` : ""}.` : " Nothing was compared."}`),
      said?.message ? h("p", {}, printable(said.message)) : null,
      ...(said ? [this.sides("The first divergence", said.firstDivergence), this.sides("The first difference of the path", said.firstPathDifference)] : []),
      ...(said?.effects ?? []).map((effect) => this.sides("An effect", effect)),
      list("Why nothing was started", said?.refusals.map((each) => `${each.class}: ${each.what}; ${each.mend}`)),
      list("Differences that were permitted", said?.rules),
      list("Compared", said?.compared),
      list("Not compared", said?.notCompared),
    );
  }

  private sides(title: string, difference: Difference | null): HTMLElement | null {
    if (!difference) {
      return null;
    }
    const { index, expected, actual } = difference;
    const of = [difference.class, difference.kind, difference.subject].filter((word) => word !== undefined).map(printable);
    return h(
      "div",
      {},
      h(
        "table",
        { class: "runs sides" },
        h("caption", {}, `${title}${of.length > 0 ? `: ${of.join(", ")}` : ""}`),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "recorded"), h("th", { scope: "col" }, "replayed"))),
        h("tbody", {}, h("tr", {}, h("td", {}, printable(expected ?? "nothing")), h("td", {}, printable(actual ?? "nothing")))),
      ),
      index !== undefined &&
        h(
          "p",
          { class: "acts" },
          h("button", { type: "button", click: () => this.go(index) }, `Event ${index}`),
          h("code", {}, `blackbox replay ${this.run} --to ${index}`),
        ),
      (difference.causes ?? []).length > 0 && h("ul", {}, ...difference.causes!.map((cause) => h("li", {}, printable(cause)))),
    );
  }
}
