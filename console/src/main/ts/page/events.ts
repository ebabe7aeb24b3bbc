import columnsJson from "../formats/columns.json";
import { COLUMNS, decode, LeafWriter, type Value } from "../core/leaf";
import { type Frontier, rootFrom } from "../core/merkle";
import { hex, textOf } from "../core/octets";
import { leafHash } from "../core/sha256";
import { KINDS, type Rows, SOURCES } from "../core/table";
import { isAbout, isRefused, subjectsOf } from "./identity";
import type { Details, Facts, Filter, Proof, Row } from "./messages";
import type { Lane, Span } from "./timeline";
import { quoted, shown, timeText, valueText } from "./text";

const IDS = Object.fromEntries(columnsJson.map(({ name, fieldId }) => [name, fieldId]));
const KIND_NAMES = new Map([...KINDS].map(([name, code]) => [code, name]));
const SOURCE_NAMES = new Map([...SOURCES].map(([name, code]) => [code, name]));
const NAMED = ["path", "host", "what", "detail", "exe", "comm", "path_to"];

/** The sorts of events that have a lane of their own. */
const LANES: [string, RegExp][] = [
  ["processes", /^process\./],
  ["files", /^file\./],
  ["network", /^(net|dns|egress|http)\./],
  ["models", /^(llm|mcp)\./],
  ["privileges", /^(cred|privilege)\./],
  ["recording", /^/],
];
const HOST = SOURCES.get("host")!;
const BEFORE_NS = 1_000_000_000n;
const NOTABLE_BIT = 0x80;
const NOTABLE = new Set(["recorder.loss", "recorder.finding", "recorder.alert"].map((name) => KINDS.get(name)!));
const SHOWN = new Set(["kind", "at_ns", "source", "cpu", "cpu_seq", "pid", "tid", "ppid", "start_ns", "comm", "previous"]);

function octets(value: Value | null): string {
  return value instanceof Uint8Array ? shown(value) : "";
}

/** Whether something was refused, lost or found. */
function isNotable(kind: Value | null | undefined, ret: Value | null | undefined): boolean {
  return isRefused(ret) || NOTABLE.has(kind as number);
}

/** The events of a run, as far as they were verified. */
export class Events {
  private readonly parts: Rows[] = [];
  private readonly ids: Map<number, ArrayLike<Value | null | undefined>>[] = [];
  /** Of each event its time after the earliest one (NaN if it has none), and its lane; made once all are here. */
  private times = new Float64Array(0);
  private lanes = new Uint8Array(0);
  private beganNs = 0n;
  private tree: Frontier | null = null;
  private root: string | null = null;
  count = 0;

  /**
   * Leaves only the events before `end`: what no checkpoint covers that holds is not shown.
   *
   * @param root the one over them that was signed
   */
  cut(end: number, root: string | null): void {
    this.count = Math.min(this.count, end);
    this.root = root;
  }

  /** @param tree the tree over them and all before them */
  add(rows: Rows, tree: Frontier): void {
    if (rows.first !== this.count) {
      return; // it will be refused, and must not stand in the place of what was not
    }
    this.tree = tree;
    this.parts.push(rows);
    this.ids.push(new Map(rows.columns.map(({ column, values }) => [column.id, values])));
    this.count += rows.count;
  }

  private part(index: number): number {
    let low = 0;
    let high = this.parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.parts[middle]!.first <= index) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** The values of an event by the names of their columns: those of its octets, where the table keeps octets. */
  private values(index: number): (name: string) => Value | null {
    const at = this.part(index);
    const rows = this.parts[at]!;
    const raw = rows.raw?.[index - rows.first];
    if (raw) {
      try {
        const decoded = decode(raw);
        return (name) => decoded.get(IDS[name]!) ?? null;
      } catch {
        return () => null;
      }
    }
    const ids = this.ids[at]!;
    return (name) => ids.get(IDS[name]!)?.[index - rows.first] ?? null;
  }

  private static kindText(kind: Value | null): string {
    return typeof kind === "number" ? (KIND_NAMES.get(kind) ?? `kind ${kind}`) : "unknown";
  }

  /** The columns that nothing else in a line shows. */
  private static rest(get: (name: string) => Value | null): string {
    return COLUMNS.filter(({ name }) => !SHOWN.has(name) && get(name) !== null)
      .map(({ name, type }) => `${name}=${valueText(get(name)!, type === "BYTES")}`)
      .join(" ");
  }

  /** Gives each event, in order, with a way to the values of the columns that were named. */
  scan(names: readonly string[], take: (index: number, get: (name: string) => Value | null | undefined) => void): void {
    for (const [at, rows] of this.parts.entries()) {
      const columns: Record<string, ArrayLike<Value | null | undefined> | undefined> = Object.fromEntries(
        names.map((name) => [name, this.ids[at]!.get(IDS[name]!)]),
      );
      let i = 0;
      const get = (name: string): Value | null | undefined => columns[name]?.[i];
      for (; i < rows.count && rows.first + i < this.count; i++) {
        take(rows.first + i, rows.raw?.[i] ? this.values(rows.first + i) : get);
      }
    }
  }

  row(index: number): Row {
    const get = this.values(index);
    const argv = get("argv");
    const path = octets(get("path"));
    const to = octets(get("path_to"));
    const ip = octets(get("remote_ip"));
    const host = octets(get("host"));
    const what = octets(get("what"));
    const lost = get("lost");
    const ret = get("ret");
    const parts: string[] = [];
    if (Array.isArray(argv)) {
      parts.push(argv.map((each) => quoted(shown(each))).join(" "));
    }
    if (path) {
      parts.push(to ? `${path} → ${to}` : path);
    }
    if (host || ip) {
      const port = get("remote_port");
      parts.push([octets(get("protocol")), host, ip ? `${ip}${port === null ? "" : `:${String(port)}`}` : ""].join(" ").trim());
    }
    if (what) {
      parts.push(what);
    }
    if (isRefused(ret)) {
      parts.push(`failed (${ret})`);
    }
    if (lost !== null && lost !== 0n) {
      parts.push(`${String(lost)} lost`);
    }
    if (parts.length === 0) {
      parts.push(octets(get("detail")) || Events.rest(get));
    }
    const pid = get("pid");
    const comm = octets(get("comm")) || octets(get("exe")).split("/").pop()!;
    return {
      cells: [
        String(index),
        timeText(get("at_ns") as bigint | null).slice(11),
        Events.kindText(get("kind")),
        pid === null ? comm : `${comm} ${String(pid)}`.trim(),
        parts.join("  ").slice(0, 500),
      ],
      notable: isNotable(get("kind"), ret),
      level: null,
      event: index,
    };
  }

  details(index: number): Details | null {
    if (index < 0 || index >= this.count) {
      return null;
    }
    const rows = this.parts[this.part(index)]!;
    const isRaw = Boolean(rows.raw?.[index - rows.first]);
    const get = this.values(index);
    const fields: Details["fields"] = [];
    for (const column of COLUMNS) {
      const value = get(column.name);
      if (value === null) {
        continue;
      }
      const text =
        column.name === "kind"
          ? Events.kindText(value)
          : column.name === "at_ns"
            ? `${String(value)}  (${timeText(value as bigint)})`
            : column.name === "source"
              ? (SOURCE_NAMES.get(value as number) ?? String(value))
              : valueText(value, column.type === "BYTES");
      fields.push({ name: column.name, value: text });
    }
    const leaf = this.leaf(index);
    return {
      index,
      fields,
      subjects: subjectsOf(get),
      leaf: hex(leaf),
      leafHash: hex(leafHash(leaf)),
      time: Number.isNaN(this.times[index]) ? null : this.times[index]!,
      remark: isRaw
        ? fields.length > 0
          ? "The table keeps this event as octets, because its columns cannot show them exactly. What is here is read from the octets."
          : "The table keeps this event as octets that this page cannot read."
        : null,
    };
  }

  /** The octets that are hashed. */
  private leaf(index: number): Uint8Array {
    const rows = this.parts[this.part(index)]!;
    const raw = rows.raw?.[index - rows.first];
    const writer = new LeafWriter();
    if (raw) {
      writer.raw(raw);
      return writer.end();
    }
    const get = this.values(index);
    writer.begin();
    for (const column of COLUMNS) {
      const value = get(column.name);
      if (value !== null) {
        writer.put(column, value);
      }
    }
    return writer.end();
  }

  /** How an event's leaf leads to the root over all events; null if there is no such event, or no root was signed. */
  proof(index: number): Proof | null {
    if (index < 0 || index >= this.count || !this.tree) {
      return null;
    }
    const hashOf = (at: number): Uint8Array => leafHash(this.leaf(at));
    const steps = this.tree.proof(index, this.count, hashOf);
    const root = hex(rootFrom(hashOf(index), steps));
    return root === this.root ? { index, size: this.count, steps: steps.map(({ side, hash }) => ({ side, hash: hex(hash) })), root } : null;
  }

  /** Notes of each event when it was and where it is drawn. */
  private survey(): void {
    this.times = new Float64Array(this.count).fill(NaN);
    this.lanes = new Uint8Array(this.count);
    const laneOf = new Map([...KINDS].map(([name, code]) => [code, LANES.findIndex(([, of]) => of.test(name))]));
    const ends = this.hostTimes();
    for (const [part, rows] of this.parts.entries()) {
      const ids = this.ids[part]!;
      const atNs = ids.get(IDS["at_ns"]!);
      const kinds = ids.get(IDS["kind"]!);
      const rets = ids.get(IDS["ret"]!);
      for (let i = 0; i < rows.count && rows.first + i < this.count; i++) {
        const raw = rows.raw?.[i] ? this.values(rows.first + i) : null;
        const time = raw ? raw("at_ns") : atNs?.[i];
        const kind = raw ? raw("kind") : kinds?.[i];
        const ret = raw ? raw("ret") : rets?.[i];
        if (typeof time === "bigint") {
          // A guest may claim any time: what lies outside the run is drawn at its edge.
          const within = time < ends.from ? ends.from : time > ends.to ? ends.to : time;
          this.times[rows.first + i] = Number(within - ends.from);
        }
        this.lanes[rows.first + i] =
          (laneOf.get(kind as number) ?? LANES.length - 1) | (isNotable(kind, ret) ? NOTABLE_BIT : 0);
      }
    }
    this.beganNs = ends.from;
  }

  /** From when to when the host saw the run; from a second before, because a guest reports what was before. */
  private hostTimes(): { from: bigint; to: bigint } {
    let from: bigint | null = null;
    let to = 0n;
    for (const [part, rows] of this.parts.entries()) {
      const sources = this.ids[part]!.get(IDS["source"]!);
      const atNs = this.ids[part]!.get(IDS["at_ns"]!);
      for (let i = 0; i < rows.count && rows.first + i < this.count; i++) {
        const time = atNs?.[i];
        if (sources?.[i] === HOST && typeof time === "bigint") {
          from = from === null || time < from ? time : from;
          to = time > to ? time : to;
        }
      }
    }
    return { from: (from ?? BEFORE_NS) - BEFORE_NS, to };
  }

  /** How many events there are in each of so many parts of a span. */
  timeline(span: Span, parts: number): Lane[] {
    const lanes = LANES.map(([name]) => ({ name, counts: new Uint32Array(parts), notable: new Uint8Array(parts) }));
    const scale = parts / (span.to - span.from);
    for (let index = 0; index < this.count; index++) {
      const time = this.times[index]!;
      const at = time === span.to ? parts - 1 : Math.floor((time - span.from) * scale);
      if (at >= 0 && at < parts) {
        const lane = lanes[this.lanes[index]! & ~NOTABLE_BIT]!;
        lane.counts[at]!++;
        lane.notable[at]! |= this.lanes[index]! & NOTABLE_BIT;
      }
    }
    return lanes;
  }

  /** The event that is nearest to a time; -1 if none has one. */
  at(time: number): number {
    let nearest = -1;
    let distance = Infinity;
    for (let index = 0; index < this.count; index++) {
      const off = Math.abs(this.times[index]! - time);
      if (off < distance) {
        nearest = index;
        distance = off;
      }
    }
    return nearest;
  }

  private json(index: number): Record<string, unknown> {
    const detail = index >= 0 ? this.values(index)("detail") : null;
    try {
      const value: unknown = detail instanceof Uint8Array ? JSON.parse(textOf(detail)) : null;
      return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
    } catch {
      return {};
    }
  }

  facts(): Facts {
    this.survey();
    const last = this.times.reduce((max, time) => (time > max ? time : max), -1);
    const counts = new Map<number | null, number>();
    let closedAt = -1;
    for (const [at, rows] of this.parts.entries()) {
      const kinds = this.ids[at]!.get(IDS["kind"]!);
      for (let i = 0; i < rows.count && rows.first + i < this.count; i++) {
        const kind = (rows.raw?.[i] ? this.values(rows.first + i)("kind") : kinds?.[i]) as number | null;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        if (kind === KINDS.get("run.close")) {
          closedAt = rows.first + i;
        }
      }
    }
    return {
      began: this.count > 0 ? timeText(this.values(0)("at_ns") as bigint | null) : null,
      ended: closedAt >= 0 ? timeText(this.values(closedAt)("at_ns") as bigint | null) : null,
      beganNs: this.beganNs,
      lengthNs: last,
      opened: this.json(this.count > 0 ? 0 : -1),
      closed: this.json(closedAt),
      kinds: [...counts]
        .map(([kind, events]) => ({ kind: Events.kindText(kind), events }))
        .sort((a, b) => b.events - a.events || (a.kind < b.kind ? -1 : 1)),
    };
  }

  /** Whether an event passes the filter; its text is looked for in what its line and its columns of text say. */
  passes(index: number, filter: Filter, text: string): boolean {
    const get = this.values(index);
    if (filter.kind && Events.kindText(get("kind")) !== filter.kind) {
      return false;
    }
    if (filter.only && !isAbout(get, filter.only)) {
      return false;
    }
    if (!text) {
      return true;
    }
    const argv = get("argv");
    return (
      NAMED.some((name) => octets(get(name)).toLowerCase().includes(text)) ||
      octets(get("remote_ip")).includes(text) ||
      (Array.isArray(argv) && argv.some((each) => shown(each).toLowerCase().includes(text)))
    );
  }
}
