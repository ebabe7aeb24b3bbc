import { fill, h } from "../page/dom";
import { printable } from "../page/text";
import { type Api, Refused } from "./api";
import { Started } from "./started";

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
  private readonly started: Started;
  private asked = false;
  private turn = 0;
  /** The verdicts that are shown, as JSON. */
  private shown = "";

  constructor(
    private readonly api: Api,
    private readonly run: string,
    private readonly gone: AbortSignal,
    private readonly opened: (open: boolean) => void,
    private readonly go: (event: number) => void,
  ) {
    this.started = new Started(api, run, gone, () => void this.verdicts());
    this.element = h("details", { toggle: () => void this.open() }, h("summary", {}, "Replays"), this.started.element, this.body);
  }

  private async open(): Promise<void> {
    this.opened(this.element.open);
    if (!this.element.open || this.asked) {
      return;
    }
    this.asked = true;
    this.shown = "";
    fill(this.body, h("p", { role: "status" }, "Fetching…"));
    await Promise.all([this.verdicts(), this.started.open()]);
  }

  private async verdicts(): Promise<void> {
    const turn = ++this.turn;
    try {
      const answer = await this.api.json<Answer>(`/runs/${this.run}/verdicts`, this.gone);
      const text = JSON.stringify(answer);
      if (turn !== this.turn || text === this.shown) {
        return; // a later answer is there, or this is what is shown: what is unfolded, and the focus, stay
      }
      this.shown = text;
      const { log, verdicts } = answer;
      fill(
        this.body,
        log === "broken" && h("p", { class: "faults" }, "The log of runs does not hold: no verdict here is evidence."),
        verdicts.length === 0 && h("p", {}, log === "holds" ? "Nobody has replayed this run here." : "There is no verdict, and no log of runs that could say whether there was one."),
        ...verdicts.reverse().map((each) => this.verdict(each)),
        h("p", {}, "On the command line: ", h("code", {}, `blackbox replay ${this.run}`), ", or ", h("code", {}, `blackbox replay ${this.run} --to EVENT`), " to land in it."),
      );
    } catch (problem) {
      this.asked = problem instanceof Refused && problem.status !== 0 && problem.status !== 503;
      const why = h("p", { role: "alert", class: "faults" }, (problem as Error).message);
      if (this.shown === "") {
        fill(this.body, why);
      } else {
        this.body.prepend(why); // what was known stays
        this.shown = "?";
      }
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
          h("button", { type: "button", click: () => this.started.land(String(index)) }, `Land at ${index}`),
          h("code", {}, `blackbox replay ${this.run} --to ${index}`),
        ),
      (difference.causes ?? []).length > 0 && h("ul", {}, ...difference.causes!.map((cause) => h("li", {}, printable(cause)))),
    );
  }
}
