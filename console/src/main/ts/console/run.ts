import { fill, h } from "../page/dom";
import { printable, quoted } from "../page/text";
import { type Address, Viewer } from "../page/viewer";
import { type Api, type Brief, Refused, type Run } from "./api";
import { Printed } from "./printed";
import { Replays } from "./replays";

const TAIL = 500;
/** More than these are folded. */
const LISTED = 12;
const LISTED_MAX = 500;
const TEMPORARY = "temporary";
const AGAIN_MS = 2_000;
const FRAME_MS = 50;
/** Which parts are unfolded is in the address. */
const OPEN = "open";
const PRINTED = "printed";
const REPLAYS = "replays";

/** One run: what it was, what it touched, its events, and while it runs, what it does and the means to stop it. */
export class RunView {
  readonly element: HTMLElement;
  private readonly title: HTMLElement;
  private readonly facts = h("dl", { class: "facts" });
  private readonly touched = h("section", { class: "touched", "aria-label": "What it touched" });
  private readonly problem = h("p", { class: "faults", role: "alert" });
  private readonly live = h("section", { class: "live", "aria-label": "Live", hidden: true });
  private readonly viewer: Viewer;
  private readonly printed: Printed;
  private readonly replays: Replays;
  private readonly gone = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly run: string,
    program: string,
    private readonly address: Address,
  ) {
    this.viewer = new Viewer(program, address);
    this.printed = new Printed(api, run, this.gone.signal, (open) => this.keep(PRINTED, open));
    this.replays = new Replays(
      api,
      run,
      this.gone.signal,
      (open) => this.keep(REPLAYS, open),
      (event) => this.viewer.go(event),
    );
    this.title = h("h2", { tabindex: -1 }, `Run ${run}`);
    this.element = h(
      "article",
      {},
      h("p", {}, h("a", { href: `#/access?run=${run}` }, "Who asked about it")),
      this.title,
      this.problem,
      this.facts,
      this.live,
      this.viewer.head,
      this.touched,
      this.printed.element,
      this.replays.element,
      this.viewer.main,
    );
    this.unfold();
    void this.load().catch((problem: unknown) => {
      if (!this.gone.signal.aborted) {
        this.problem.textContent = problem instanceof Error ? problem.message : String(problem);
      }
    });
  }

  end(): void {
    this.gone.abort();
    this.printed.end();
    this.viewer.end();
  }

  /** Where who came here by keys goes on. */
  focus(): void {
    this.title.focus();
  }

  restore(): void {
    this.unfold();
    this.viewer.restore();
  }

  private unfold(): void {
    const open = this.address.read().getAll(OPEN);
    this.printed.element.open = open.includes(PRINTED);
    this.replays.element.open = open.includes(REPLAYS);
  }

  private keep(part: string, open: boolean): void {
    const words = this.address.read();
    const others = words.getAll(OPEN).filter((each) => each !== part);
    words.delete(OPEN);
    [...others, ...(open ? [part] : [])].forEach((each) => words.append(OPEN, each));
    this.address.write(words);
  }

  resize(): void {
    this.viewer.resize();
  }

  key(event: KeyboardEvent): void {
    this.viewer.key(event);
  }

  private async load(): Promise<void> {
    const run = await this.api.json<Run>(`/runs/${this.run}`, this.gone.signal);
    this.show(run);
    if (run.state === "OPEN") {
      this.viewer.say("NONE", "Still being recorded", "The browser verifies it once it is closed.");
      await this.tail(run.events);
      return this.load();
    }
    this.live.hidden = true;
    const touching = this.touch().catch((problem: unknown) => {
      fill(this.touched, h("p", {}, `What it touched: ${(problem as Error).message}`));
    });
    await Promise.all([touching, this.verify()]);
  }

  private show(run: Run): void {
    const row = (name: string, value: string | null): Node[] => (value ? [h("dt", {}, name), h("dd", {}, value)] : []);
    fill(
      this.facts,
      ...row("Name", printable(run.name ?? "")),
      ...row("State", run.state + (run.exitCode === null ? "" : `, exit ${run.exitCode}`) + (run.signal === null ? "" : `, signal ${run.signal}`)),
      ...row("Time", `${run.startedAt ?? ""} to ${run.endedAt ?? (run.state === "OPEN" ? "now" : "nobody knows when: it was not closed")}`),
      ...row("Tier", run.tier),
      ...row("Imported", run.imported ? (run.imported.trusted ? "from a recorder that is trusted here" : "from a recorder that nobody here trusts") : null),
      ...row("Fault", run.fault ? printable(run.fault) : null),
      ...row("Left out", (run.leftOut ?? []).map(({ file, why }) => printable(`${file}: ${why}`)).join("; ") || null),
    );
  }

  /** The browser's own verdict, from the evidence's octets; asked again until all of them are in the table. */
  private async verify(): Promise<void> {
    this.viewer.say("CHECKING", "Fetching the evidence…", "");
    while (!this.gone.signal.aborted) {
      try {
        const answer = await this.api.ask(`/runs/${this.run}/evidence`, { signal: this.gone.signal });
        this.viewer.show(await answer.arrayBuffer(), this.run);
        return;
      } catch (problem) {
        const status = problem instanceof Refused ? problem.status : 0;
        const why = (problem as Error).message;
        if (status === 409 || status === 503) {
          this.viewer.say("CHECKING", "Waiting for the evidence…", why);
        } else if (status === 403) {
          return this.verdictOfTheService(why);
        } else {
          this.viewer.say("UNCHECKED", "NOT VERIFIED", why);
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  /** Who may not read what was recorded may still know what the service found. */
  private async verdictOfTheService(why: string): Promise<void> {
    const said = await this.api.json<{ integrity: string; completeness: string }>(`/runs/${this.run}/verification`, this.gone.signal);
    this.viewer.say("UNCHECKED", `The service says: ${said.integrity}, ${said.completeness}`, `Not verified in this browser: ${why}.`);
  }

  private async touch(): Promise<void> {
    const { brief, limits } = await this.api.json<{ brief: Brief; limits: string[] }>(`/runs/${this.run}/touched?part=privileges`, this.gone.signal);
    const list = (title: string, all: string[]): Node[] =>
      all.length === 0
        ? []
        : [
            h(
              "details",
              { open: all.length <= LISTED },
              h("summary", {}, `${title} (${all.length.toLocaleString("en")})`),
              h("ul", {}, ...all.slice(0, LISTED_MAX).map((each) => h("li", {}, each))),
              all.length > LISTED_MAX && h("p", {}, `and ${all.length - LISTED_MAX} more: \`blackbox touched ${this.run} --all\``),
            ),
          ];
    const change = (each: Brief["changes"][number]): string =>
      `${each.net} ${printable(each.path)}${each.by ? `, by ${printable(each.by)}` : ""}, ${each.bytesWritten} octets written`;
    fill(
      this.touched,
      h("h2", {}, "What it touched"),
      h("p", { class: "octets" }, printable(brief.command.map(quoted).join(" ")) + (brief.ended ? `   ${brief.ended}` : "")),
      ...list(
        "Notable",
        brief.notable.map(
          (each) =>
            `${each.what}: ${printable(each.act)}${each.by ? `, by ${printable(each.by)}` : ""}${each.error ? `, ${printable(each.error)}` : ""}` +
            `${each.count > 1 ? ` (${each.count} times)` : ""}, event ${each.index}`,
        ),
      ),
      ...list(
        "Network",
        brief.network.map(
          (each) => `${each.protocol} ${printable(each.host ?? "")} ${each.remote}, ${each.bytesOut} out, ${each.bytesIn} in, by ${printable(each.by.join(", "))}`,
        ),
      ),
      ...list("Changed", brief.changes.filter((each) => each.net !== TEMPORARY).map(change)),
      ...list("Made and removed again", brief.changes.filter((each) => each.net === TEMPORARY).map(change)),
      ...list(
        "Programs",
        Object.entries(brief.programs).map(([name, times]) => `${printable(name)} × ${times}`),
      ),
      ...list("Not seen", limits.map(printable)),
    );
  }

  /**
   * Events as they come, and the means to stop the run; ends when the run does.
   *
   * @param events how many there are already: of these only the newest are shown
   */
  private async tail(events: number): Promise<void> {
    const lines = h("tbody", {});
    const state = h("p", { role: "status" }, "Connecting…");
    const reason = h("input", { id: "reason", type: "text", placeholder: "why; it is sealed with the run", maxlength: 500 });
    const said = h("p", { role: "status" });
    const act = (name: string): HTMLElement =>
      h(
        "button",
        {
          type: "button",
          click: () => {
            said.textContent = `${name}…`;
            this.api
              .ask(`/runs/${this.run}/${name}`, { method: "POST", body: { reason: reason.value }, signal: this.gone.signal })
              .then(async (answer) => (said.textContent = `${name}: ${((await answer.json()) as { outcome?: string }).outcome ?? "done"}; sealed`))
              .catch((problem: unknown) => (said.textContent = `${name}: ${(problem as Error).message}`));
          },
        },
        name[0]!.toUpperCase() + name.slice(1),
      );
    this.live.hidden = false;
    fill(
      this.live,
      h("h2", {}, "Live"),
      h("form", { class: "filter", submit: (event) => event.preventDefault() }, h("label", { for: "reason" }, "Reason"), reason, act("pause"), act("resume"), act("kill")),
      said,
      state,
      h("table", { class: "tail" }, h("caption", {}, "The newest events"), lines),
    );
    let waiting: Record<string, unknown>[] = [];
    let count = 0;
    const draw = (): void => {
      // However fast they come, only the newest are drawn, once a frame.
      const newest = waiting.slice(-TAIL);
      waiting = [];
      lines.prepend(...newest.reverse().map((event) => RunView.line(event)));
      while (lines.childElementCount > TAIL) {
        lines.lastElementChild!.remove();
      }
      this.live.dataset["events"] = String(count);
    };
    await this.api.follow(
      this.run,
      Math.max(0, events - TAIL),
      (event) => {
        count++;
        if (waiting.push(event) === 1) {
          setTimeout(draw, FRAME_MS); // also where nobody sees it
        }
      },
      (why) => (state.textContent = why === null ? "Connected" : `Connecting again: ${why}`),
      this.gone.signal,
    );
    draw();
    state.textContent = "The run has ended.";
  }

  private static line(event: Record<string, unknown>): HTMLElement {
    const process = event["process"] as { comm?: string; pid?: number } | undefined;
    const argv = event["argv"] as string[] | undefined;
    const remote = event["remote"] as { ip?: string; port?: number } | undefined;
    const what = argv ? argv.map(quoted).join(" ") : (event["path"] ?? event["host"] ?? event["what"] ?? (remote ? `${remote.ip}:${remote.port}` : ""));
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, String(event["index"])),
      h("td", {}, String(event["at"] ?? "").slice(11, 26)),
      h("td", {}, String(event["kind"] ?? "")),
      h("td", {}, process ? printable(`${process.comm ?? ""} ${process.pid ?? ""}`) : ""),
      h("td", {}, printable(String(what)).slice(0, 300)),
    );
  }
}
