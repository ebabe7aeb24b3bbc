import { fill, h } from "../page/dom";
import { printable } from "../page/text";
import { type Api, FINAL, Refused } from "./api";

/** A replay or a landing that this service was asked for (openapi.json). */
interface Job {
  replay: string;
  version: number;
  to: string | null;
  state: "waiting" | "running" | "landed" | "ended" | "cancelled";
  by: string;
  askedAt: string;
  endedAt: string | null;
  progress: string | null;
  exitCode: number | null;
  /** Only where one is asked for alone, as what follows. */
  report?: { verdict?: string; equivalence?: string | null; message?: string | null; verdicts?: { signed?: boolean; unsigned?: string | null }[] } | null;
  place?: Record<string, unknown> | null;
  pending?: string | null;
  answersForgotten?: number;
  answers?: { asked: string; answer: Record<string, unknown> }[];
}

interface Jobs {
  version: number;
  replays: Job[];
}

const AGAIN_MS = 2_000;
const AGAIN_MS_MAX = 60_000;
/** What is asked most. */
const QUESTIONS = ["processes", "registers", "output", "console", "next", "back", "step", "help"];

/** One of them on the page. What is said of it, in `status` and `problem`, stays in its place, so that it is read out. */
class Shown {
  readonly heading = h("h3", { tabindex: -1 });
  readonly status = h("p", { role: "status" });
  readonly problem = h("p", { role: "alert", class: "faults" });
  readonly rest = h("div", {});
  readonly element = h("section", { class: "verdict" }, this.heading, this.status, this.problem, this.rest);
  version = -1;
  over = false;
}

/** Starts replays of a run and landings in it, shows how they are, and asks those that have landed. */
export class Started {
  readonly element: HTMLElement;
  private readonly moment = h("input", { id: "moment", type: "text", placeholder: "event or time", maxlength: 40, size: 16 });
  private readonly said = h("p", { role: "status" });
  private readonly jobs = h("div", {});
  private readonly shown = new Map<string, Shown>();
  private watching = false;

  /** @param ended is called when one that was under way has ended: there may be a new verdict */
  constructor(
    private readonly api: Api,
    private readonly run: string,
    private readonly gone: AbortSignal,
    private readonly ended: () => void,
  ) {
    this.element = h(
      "section",
      { "aria-label": "Started here" },
      h(
        "form",
        {
          class: "filter",
          submit: (event) => {
            event.preventDefault();
            this.land(this.moment.value);
          },
        },
        h("button", { type: "button", click: () => void this.start({}) }, "Replay it"),
        h("label", { for: "moment" }, "or land at"),
        this.moment,
        h("button", {}, "Land"),
      ),
      this.said,
      this.jobs,
    );
  }

  /** Shows what was started before, by whomever, and what comes of it. */
  async open(): Promise<void> {
    if (this.watching) {
      return;
    }
    this.watching = true;
    let known = -1;
    let wait = AGAIN_MS;
    while (!this.gone.aborted) {
      try {
        const all = await this.api.json<Jobs>(`/runs/${this.run}/replays?after=${known}`, this.gone);
        await this.take(all.replays);
        known = all.version;
        wait = AGAIN_MS;
      } catch (problem) {
        if (this.gone.aborted) {
          return;
        }
        this.said.textContent = (problem as Error).message;
        if (problem instanceof Refused && FINAL.includes(problem.status)) {
          this.watching = false;
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, wait));
        wait = Math.min(AGAIN_MS_MAX, 2 * wait);
      }
    }
  }

  land(moment: string): void {
    if (moment.trim() === "") {
      this.said.textContent = "Where to? The number of an event, or a time such as 02:13:07.";
      this.moment.focus();
      return;
    }
    this.moment.value = moment;
    void this.start({ to: moment.trim() });
  }

  private async start(body: { to?: string }): Promise<void> {
    this.said.textContent = "Asking…";
    try {
      const answer = await this.api.ask(`/runs/${this.run}/replays`, { method: "POST", body, signal: this.gone });
      this.said.textContent = "";
      const job = (await answer.json()) as Job;
      this.draw(job);
      this.shown.get(job.replay)!.heading.focus();
      void this.open();
    } catch (problem) {
      this.said.textContent = (problem as Error).message;
    }
  }

  /** @param jobs the newest first */
  private async take(jobs: Job[]): Promise<void> {
    for (const [id, each] of this.shown) {
      if (!jobs.some(({ replay }) => replay === id)) {
        this.shown.delete(id);
        each.element.remove(); // it is not remembered any more
      }
    }
    let ended = false;
    for (const job of jobs.toReversed()) {
      const shown = this.shown.get(job.replay);
      if (shown?.version === job.version) {
        continue;
      }
      const wasUnderWay = shown !== undefined && !shown.over;
      // What ended before this page came has nothing that changes: what it reported is fetched where somebody wants it.
      this.draw(job.endedAt !== null && !wasUnderWay ? job : await this.api.json<Job>(`/runs/${this.run}/replays/${job.replay}`, this.gone));
      ended ||= wasUnderWay && job.endedAt !== null;
    }
    if (ended) {
      this.ended();
    }
  }

  private draw(job: Job): void {
    const of = `/runs/${this.run}/replays/${job.replay}`;
    let shown = this.shown.get(job.replay);
    if (shown === undefined) {
      shown = new Shown();
      this.shown.set(job.replay, shown);
      this.jobs.prepend(shown.element);
    }
    const { element, heading, status, problem, rest } = shown;
    shown.version = job.version;
    shown.over = job.endedAt !== null;
    const ask = (path: string, method: string, body?: unknown): Promise<void> =>
      this.api.ask(path, { method, body, signal: this.gone }).then(
        () => void (problem.textContent = ""),
        (refused: unknown) => {
          problem.textContent = (refused as Error).message;
          throw refused;
        },
      );
    const act = (name: string, method: string, path: string, body?: unknown): HTMLElement =>
      h("button", { type: "button", id: `${job.replay}-${name.replaceAll(" ", "-")}`, click: () => void ask(path, method, body).catch(() => {}) }, name);
    const ending = !shown.over && (job.state === "ended" || job.state === "cancelled");
    const words = ending ? "is being ended" : { waiting: "waits for others, maybe of other runs", running: "runs", landed: "is paused", ended: "has ended", cancelled: "was cancelled" }[job.state];
    const verdict = job.report?.verdict;
    const unsigned = job.report?.verdicts?.find((each) => each.signed === false);
    heading.textContent =
      `${job.to === null ? "A replay" : `A landing at ${printable(job.to)}`} ${words}` +
      (verdict ? `: ${unsigned ? "NOT SIGNED, " : ""}${verdict}${job.report?.equivalence ? ` (${job.report.equivalence})` : ""}` : "");
    const progress = job.pending ? `${job.pending}…` : (job.progress ?? "");
    status.textContent = `Asked for by ${printable(job.by)}, ${job.askedAt.slice(0, 19)}.${job.exitCode === null ? "" : ` Exit ${job.exitCode}.`} ${printable(progress)}`;
    const active = document.activeElement;
    const focused = active !== null && element.contains(active) ? active.id : null;
    const line = h("input", { id: `ask-${job.replay}`, type: "text", "aria-label": "A command", placeholder: "a command; help lists them", maxlength: 200 });
    line.value = (rest.querySelector(`#ask-${job.replay}`) as HTMLInputElement | null)?.value ?? "";
    const submit = (event: Event): void => {
      event.preventDefault();
      const asked = line.value;
      ask(`${of}/ask`, "POST", { line: asked }).then(
        () => {
          const now = document.getElementById(line.id) as HTMLInputElement | null;
          if (now?.value === asked) {
            now.value = "";
          }
        },
        () => {},
      );
    };
    fill(
      rest,
      unsigned ? h("p", { class: "faults" }, `Not signed: ${printable(unsigned.unsigned ?? "")}`) : null,
      job.report?.message ? h("p", {}, printable(job.report.message)) : null,
      job.place ? Started.values(shown.over ? "Where it was" : "Where it is", job.place) : null,
      job.state === "landed" &&
        h("form", { class: "filter", submit }, line, h("button", { id: `${job.replay}-ask` }, "Ask"), ...QUESTIONS.map((each) => act(each, "POST", `${of}/ask`, { line: each }))),
      ...(job.answers ?? []).toReversed().map(({ asked, answer }) => Started.values(asked, answer)),
      job.answersForgotten ? h("p", {}, `${job.answersForgotten} older answers are not kept.`) : null,
      shown.over || ending ? null : h("p", { class: "acts" }, act(job.state === "landed" ? "Leave it" : "Cancel", "DELETE", of)),
      job.answers === undefined && h("p", { class: "acts" }, h("button", { type: "button", id: `${job.replay}-report`, click: () => void this.report(job.replay) }, "What came of it")),
    );
    if (focused !== null) {
      (document.getElementById(focused) ?? heading).focus();
    }
  }

  private async report(id: string): Promise<void> {
    try {
      this.draw(await this.api.json<Job>(`/runs/${this.run}/replays/${id}`, this.gone));
    } catch (problem) {
      this.shown.get(id)!.problem.textContent = (problem as Error).message;
    }
  }

  /** An answer as a table of its names and values. */
  private static values(caption: string, answer: Record<string, unknown>): HTMLElement {
    const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 1));
    return h(
      "table",
      { class: "runs sides" },
      h("caption", {}, printable(caption)),
      h("tbody", {}, ...Object.entries(answer).map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, printable(name)), h("td", { class: "octets" }, ...text(value).split("\n").flatMap((each, at) => [...(at ? [h("br")] : []), printable(each)]))))),
    );
  }
}
