import { fromBase64 } from "../core/octets";
import { verify } from "../core/verify";
import { Events } from "./events";
import type { Answer, Filter, Question, Row, View } from "./messages";
import { Summary } from "./lists/summary";
import { boundary } from "./search";

/** Rows that are looked at before other questions get their turn. */
const SLICE = 20_000;
const TELL_MS = 100;
const EDGES_MAX = 1_000;

/** The thread that verifies and has the events: the page stays quick. */
export function runThread(): void {
  const say = (answer: Answer): void => postMessage(answer);
  let events = new Events();
  let found: Uint32Array | null = null; // null: all
  let filtering = 0;
  let summary: Summary | null = null; // made when it is first asked for

  async function check(bundle: string | ArrayBuffer, keys: string[], run: string | null): Promise<void> {
    const begun = performance.now();
    const all = new Events();
    let told = 0;
    let zip: Uint8Array;
    try {
      zip = typeof bundle === "string" ? fromBase64(bundle.replace(/^\s+|\s+$/g, "")) : new Uint8Array(bundle);
    } catch (broken) {
      zip = new Uint8Array(0);
      const report = await verify(zip, [], null, () => {}, () => {});
      report.findings = [`the bundle in this page was changed: ${(broken as Error).message}`];
      say({ say: "report", report, facts: all.facts(), ms: performance.now() - begun });
      return;
    }
    const report = await verify(
      zip,
      keys,
      run,
      (progress) => {
        const now = performance.now();
        if (now - told > TELL_MS || progress.done === 0) {
          told = now;
          say({ say: "progress", progress });
        }
      },
      (rows, tree) => all.add(rows, tree),
    );
    all.cut(report.events, report.root);
    events = all;
    found = null;
    summary = null;
    filtering++;
    say({ say: "report", report, facts: events.facts(), ms: performance.now() - begun });
  }

  function summed(): Summary {
    summary ??= new Summary(events);
    return summary;
  }

  async function filter(view: View, wanted: Filter, sort: string): Promise<void> {
    const mine = ++filtering;
    const tell = (count: number, done: boolean): void => say({ say: "filtered", view, filter: wanted, sort, count, done });
    if (view !== "events") {
      await new Promise((resolve) => setTimeout(resolve)); // who types quickly asks anew meanwhile
      if (mine !== filtering) {
        return;
      }
      tell(summed().of(view).filter(wanted, sort), true);
      return;
    }
    const text = wanted.text.trim().toLowerCase();
    if (!wanted.kind && !text && !wanted.only) {
      found = null;
      tell(events.count, true);
      return;
    }
    const all = events;
    const hits = new Uint32Array(all.count);
    let count = 0;
    for (let index = 0; index < all.count; index++) {
      if (index % SLICE === SLICE - 1) {
        found = hits.subarray(0, count);
        tell(count, false);
        await new Promise((resolve) => setTimeout(resolve));
        if (mine !== filtering) {
          return;
        }
      }
      if (all.passes(index, wanted, text)) {
        hits[count++] = index;
      }
    }
    found = hits.subarray(0, count);
    tell(count, true);
  }

  function rows(view: View, from: number, to: number): void {
    const list = view === "events" ? null : summed().of(view);
    const end = Math.min(to, list ? list.count : found ? found.length : events.count);
    const some: Row[] = [];
    for (let at = from; at < end; at++) {
      some.push(list ? list.row(at) : events.row(found ? found[at]! : at));
    }
    say({ say: "rows", view, from, rows: some });
  }

  /** Where an event is in the list as it is filtered, or the first one after it. */
  function place(index: number): void {
    const at = boundary(found ? found.length : events.count, (place) => (found ? found[place]! : place) < index);
    const isThere = (found ? found[at] : at < events.count ? at : undefined) === index;
    say({ say: "place", index, place: at, isThere });
  }

  const failed = (why: unknown): void => say({ say: "failed", what: String(why) });

  onmessage = ({ data: question }: MessageEvent<Question>): void => {
    switch (question.ask) {
      case "verify":
        check(question.bundle, question.keys, question.run).catch(failed);
        break;
      case "filter":
        filter(question.view, question.filter, question.sort).catch(failed);
        break;
      case "rows":
        rows(question.view, question.from, question.to);
        break;
      case "edges":
        say({ say: "edges", edges: summed().edges.slice(0, EDGES_MAX), of: summed().edges.length });
        break;
      case "place":
        place(question.index);
        break;
      case "timeline":
        say({ say: "timeline", span: question.span, lanes: events.timeline(question.span, question.parts) });
        break;
      case "at":
        say({ say: "at", index: events.at(question.time) });
        break;
      case "event":
        say({ say: "event", details: events.details(question.index) });
        break;
      case "proof":
        say({ say: "proof", proof: events.proof(question.index) });
        break;
    }
  };
}
