import { Beyond } from "./beyond";
import { COLUMNS, decode, idOf, LeafWriter, type Value } from "./leaf";
import { Frontier } from "./merkle";
import { checkpointOf, isRoot, Key, Note } from "./note";
import { fromBase64, isSame, textOf, utf8 } from "./octets";
import { certificateOf, DoesNotHold, type RunsLog } from "./runslog";
import { HASH_LENGTH } from "./sha256";
import { KINDS, type Rows, SOURCES } from "./table";

const HEARTBEAT = KINDS.get("recorder.heartbeat")!;
const CLOSE = KINDS.get("run.close")!;
const LOSS = KINDS.get("recorder.loss")!;
const GUEST = SOURCES.get("guest")!;
const ID = {
  kind: idOf("kind"),
  atNs: idOf("at_ns"),
  source: idOf("source"),
  cpu: idOf("cpu"),
  cpuSeq: idOf("cpu_seq"),
  lost: idOf("lost"),
  events: idOf("events"),
  batch: idOf("batch"),
  previous: idOf("previous"),
  detail: idOf("detail"),
};
/** How far a host's event may lie outside its epoch (schemas/batch.md). */
const TOLERANCE_NS = 60e9;
/** A recorder seals at least once a second; a gap of this length is late beyond doubt. */
const BEAT_MAX_NS = 10e9;
/** How long a service's own record may say that it is quiet. */
const IDLE_SECONDS_MAX = 3_600;
const LOSSES_MAX = 10_000;
const CPUS_MAX = 4_096;
const NEXT_KEY = /^\{"nextKey":"([A-Za-z0-9+/]{43}=)"\}$/;
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });
const INGEST = "blackbox/ingest";
const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

/** Who must sign the next checkpoint. */
type Signer = { kind: "epoch"; key: Key } | { kind: "direct" } | { kind: "nobody" } | { kind: "unknown" };

/** What the rows themselves say of what is complete (schemas/bundle.md, "The completeness report"). */
export interface Account {
  events: number;
  cpus: { cpu: number; first: number; last: number; seen: number }[];
  losses: { index: number; lost: number }[];
  heartbeats: number;
  heartbeatGapNsMax: number;
  closedAtIndex: number | null;
  declaredLost: number;
}

/** Text as the table has it: with U+FFFD for what is not UTF-8. */
function stored(octets: Uint8Array): Uint8Array {
  return utf8(LENIENT.decode(octets));
}

function isShown(value: Value, column: Value | null | undefined): boolean {
  if (Array.isArray(value)) {
    return (
      Array.isArray(column) &&
      column.length === value.length &&
      value.every((each, at) => isSame(stored(each), column[at]!))
    );
  }
  return value instanceof Uint8Array
    ? column instanceof Uint8Array && (isSame(value, column) || isSame(stored(value), column))
    : value === column;
}

/**
 * What the octets of a row say that is kept as octets.
 *
 * @throws Malformed if its columns are not what its writer could show of them (schemas/table.md)
 */
function rawValues(raw: Uint8Array, rows: Rows, at: number): (id: number) => Value | undefined {
  const column = (id: number): Value | null =>
    rows.columns.find((each) => each.column.id === id)?.values[at] ?? null;
  let values = new Map<number, Value>();
  let readable = true;
  try {
    values = decode(raw);
  } catch {
    readable = false; // its octets are covered; what they mean is not known
  }
  const shown = readable && [...values.keys()].every((id) => rows.ids.has(id));
  for (const { id } of COLUMNS) {
    const value = shown ? values.get(id) : undefined;
    const codes = id === ID.kind ? rows.kinds : id === ID.source ? rows.sources : null;
    const nameless = codes && value !== undefined && ![...codes.values()].includes(value as number);
    const holds = value === undefined || nameless ? column(id) === null : isShown(value, column(id));
    if (!holds) {
      throw new DoesNotHold(`the columns of event ${rows.first + at} do not agree with its octets`);
    }
  }
  return (id) => values.get(id);
}

/** When a run began, in ns since 1970: the time in its id. */
function begunNs(run: string): number {
  let ms = 0;
  for (const digit of run.slice(0, 10)) {
    ms = ms * 32 + CROCKFORD.indexOf(digit);
  }
  return ms * 1e6;
}

function number(value: Value | null | undefined): number | null {
  return typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : null;
}

/**
 * Checks the events of one run in their order: each heartbeat's checkpoint signs exactly the tree over the events up
 * to it, with the key whose turn it is (schemas/batch.md, schemas/trust.md).
 */
export class RunCheck {
  readonly tree = new Frontier();
  private readonly writer = new LeafWriter();
  private signer: Signer = { kind: "unknown" };
  private certified = true;
  private batches = 0;
  private closed = false;
  private beatNs: bigint | null = null;
  private epochFromNs: number;
  private earliest: { index: number; atNs: number } | null = null;
  private latest: { index: number; atNs: number } | null = null;
  private readonly cpus = new Map<number, { cpu: number; first: number; last: number; seen: number }>();
  private readonly expected: Map<number, { root: Uint8Array; leaf: number }[]>;
  readonly account: Account;
  /** What is to be said of a run that holds. */
  readonly notes: string[] = [];
  private issuedNs: number | null = null;
  private behind = false;
  private beatMaxNs = BEAT_MAX_NS;
  private logged = true;
  /** Index after the last event that a checkpoint covers that holds. */
  covered = 0;
  /** The root over these. */
  root: Uint8Array | null = null;
  checkpoints = 0;

  constructor(
    private readonly run: string,
    private readonly trusted: Key[],
    private readonly log: RunsLog | null,
  ) {
    this.epochFromNs = begunNs(run);
    this.expected = new Map();
    for (const { size, root, leaf } of log?.checkpoints ?? []) {
      this.expected.set(size, [...(this.expected.get(size) ?? []), { root, leaf }]);
    }
    this.account = { events: 0, cpus: [], losses: [], heartbeats: 0, heartbeatGapNsMax: 0, closedAtIndex: null, declaredLost: 0 };
  }

  get size(): number {
    return this.tree.size;
  }

  /** Takes rows. @throws DoesNotHold at the first that does not hold */
  async take(rows: Rows): Promise<void> {
    if (rows.first !== this.size) {
      throw new DoesNotHold(
        rows.first > this.size
          ? `events ${this.size} to ${rows.first - 1} are missing`
          : `event ${rows.first} is there twice`,
      );
    }
    const find = (id: number): ArrayLike<Value | null | undefined> =>
      rows.columns.find(({ column }) => column.id === id)?.values ?? [];
    const kinds = find(ID.kind);
    const sources = find(ID.source);
    const times = find(ID.atNs);
    const cpus = find(ID.cpu);
    const sequences = find(ID.cpuSeq);
    for (let i = 0; i < rows.count; i++) {
      const index = this.size;
      const raw = rows.raw?.[i] ?? null;
      let of: ((id: number) => Value | null | undefined) | null = null;
      if (raw) {
        this.writer.raw(raw);
        of = rawValues(raw, rows, i);
      } else {
        this.writer.begin();
        for (const { column, values } of rows.columns) {
          const value = values[i];
          if (value !== null && value !== undefined) {
            this.writer.put(column, value);
          }
        }
      }
      this.tree.append(this.writer.end());
      const get = (id: number): Value | null | undefined => (of ? of(id) : find(id)[i]);
      const kind = of ? of(ID.kind) : kinds[i];
      if (index === 0) {
        await this.open(get(ID.detail));
      }
      const cpu = number(of ? of(ID.cpu) : cpus[i]);
      if (cpu !== null) {
        this.sequence(cpu, number(of ? of(ID.cpuSeq) : sequences[i]));
      }
      const note = rows.checkpoints?.[i] ?? null;
      if (kind === HEARTBEAT) {
        this.heartbeat(index, get);
        await this.checkpoint(index, note, get(ID.detail));
        continue;
      }
      if (note) {
        throw new DoesNotHold(`event ${index} has a checkpoint and is not a heartbeat`);
      }
      if (this.closed) {
        throw new DoesNotHold(`event ${index} comes after the run's close`);
      }
      if (kind === CLOSE) {
        this.closed = true;
        this.account.closedAtIndex = index;
        if (number(get(ID.events)) !== index) {
          throw new DoesNotHold(`event ${index}, the run's close, does not count ${index} events`);
        }
      } else if (kind === LOSS) {
        const lost = number(get(ID.lost));
        this.account.declaredLost += Math.max(0, lost ?? 0);
        if (!Number.isSafeInteger(this.account.declaredLost)) {
          throw new Beyond(`event ${index}: more events are declared lost than this page can count`);
        }
        if (lost !== null && this.account.losses.length < LOSSES_MAX) {
          this.account.losses.push({ index, lost });
        }
      }
      const atNs = number(of ? of(ID.atNs) : times[i]);
      const source = of ? of(ID.source) : sources[i];
      if (atNs !== null && typeof source === "number" && source !== GUEST) {
        this.earliest = this.earliest && this.earliest.atNs <= atNs ? this.earliest : { index, atNs };
        this.latest = this.latest && this.latest.atNs >= atNs ? this.latest : { index, atNs };
      }
    }
  }

  private async open(detail: Value | null | undefined): Promise<void> {
    let note: unknown;
    try {
      const parsed = detail instanceof Uint8Array ? (JSON.parse(textOf(detail)) as Record<string, unknown>) : {};
      const idle = parsed["service"] === "access" ? parsed["idleSeconds"] : null;
      this.beatMaxNs += typeof idle === "number" ? Math.min(Math.max(idle, 0), IDLE_SECONDS_MAX) * 1e9 : 0;
      note = (parsed["recorder"] as Record<string, unknown> | undefined)?.["certificate"];
    } catch {
      note = undefined;
    }
    if (note === undefined) {
      this.certified = false;
      if (this.log && this.log.certificates.length + this.log.checkpoints.length > 0) {
        throw new DoesNotHold("event 0: the run has no certificate, but the log of runs contains the run");
      }
      const began = this.log?.keys.begunAt();
      if (began && begunNs(this.run) >= Date.parse(`${began.slice(0, 23)}Z`) * 1e6) {
        throw new DoesNotHold("event 0: the run has no certificate, but there was a log of runs when it began");
      }
      this.signer = { kind: "direct" };
      return;
    }
    const certificate = typeof note === "string" ? Note.parse(note) : null;
    const said = certificate && certificateOf(certificate.text);
    if (!said || said.run !== this.run) {
      throw new DoesNotHold("event 0: the certificate in it is not one of this run");
    }
    const logged = this.log?.certificates ?? [];
    if (logged.length === 0 || logged.some((each) => each.text !== said.text)) {
      throw new DoesNotHold("event 0: the certificate in it is not the one in the log of runs");
    }
    this.issuedNs = Date.parse(`${said.text.split("\n")[3]!.slice(0, 23)}Z`) * 1e6;
    this.signer = { kind: "epoch", key: said.firstKey };
  }

  private sequence(cpu: number, seq: number | null): void {
    let known = this.cpus.get(cpu);
    if (seq === null || (!known && this.cpus.size >= CPUS_MAX)) {
      return;
    }
    if (!known) {
      known = { cpu, first: seq, last: seq, seen: 0 };
      this.cpus.set(cpu, known);
    }
    known.first = Math.min(known.first, seq);
    known.last = Math.max(known.last, seq);
    known.seen++;
  }

  private heartbeat(index: number, get: (id: number) => Value | null | undefined): void {
    if (number(get(ID.batch)) !== this.batches) {
      throw new DoesNotHold(`event ${index}: the heartbeat does not belong to batch ${this.batches}`);
    }
    if (number(get(ID.events)) !== this.size) {
      throw new DoesNotHold(`event ${index}: the heartbeat does not count ${this.size} events`);
    }
    const previous = get(ID.previous);
    const linked = previous instanceof Uint8Array && previous.length === HASH_LENGTH;
    if (!linked || (this.batches === 0 && !isSame(previous, new Uint8Array(HASH_LENGTH)))) {
      throw new DoesNotHold(`event ${index}: the heartbeat does not name the previous batch`);
    }
    const at = get(ID.atNs);
    this.beat(index, typeof at === "bigint" ? at : BigInt(number(at) ?? 0));
    this.batches++;
  }

  private beat(index: number, atNs: bigint): void {
    const before = this.beatNs;
    if (before !== null) {
      if (atNs < before && this.certified) {
        throw new DoesNotHold(`event ${index}: the heartbeat's time is earlier than that of the one before it`);
      }
      const gap = Number(atNs - before);
      this.account.heartbeatGapNsMax = Math.max(this.account.heartbeatGapNsMax, gap);
      if (gap > this.beatMaxNs) {
        this.notes.push(`event ${index}: no heartbeat for ${Math.floor(gap / 1e9)} s before this one`);
      }
    }
    this.account.heartbeats++;
    const early = this.earliest;
    const first = Math.min(early?.atNs ?? Infinity, Number(atNs));
    if (!this.behind && this.issuedNs !== null && first < this.issuedNs - TOLERANCE_NS) {
      this.behind = true;
      this.notes.push(`event ${early?.index ?? index}: its time is before the run's first key was certified: the clock had been set back`);
    }
    if (this.certified && early && early.atNs < this.epochFromNs - TOLERANCE_NS) {
      throw new DoesNotHold(`event ${early.index} is back-dated: its time is before its epoch began`);
    }
    const late = this.latest;
    if (this.certified && late && late.atNs > Number(atNs) + TOLERANCE_NS) {
      throw new DoesNotHold(`event ${late.index} has a time after its epoch ended`);
    }
    this.epochFromNs = Math.max(this.epochFromNs, Number(atNs));
    this.beatNs = atNs;
    this.earliest = null;
    this.latest = null;
  }

  private async checkpoint(index: number, octets: Uint8Array | null, detail: Value | null | undefined): Promise<void> {
    if (!octets) {
      throw new DoesNotHold(`event ${index}: the heartbeat has no checkpoint`);
    }
    const where = `events ${this.covered} to ${index}`;
    const note = Note.parse(octets);
    if (!note) {
      throw new DoesNotHold(`${where}: their checkpoint is not a signed note`);
    }
    const signers =
      this.signer.kind === "epoch"
        ? [this.signer.key]
        : this.signer.kind === "direct"
          ? this.trusted.filter(({ name }) => name !== INGEST) // it seals files, and signs no events
          : [];
    if (!(await note.isSignedBy(signers))) {
      throw new DoesNotHold(`${where}: their checkpoint is not signed by the key whose turn it is`);
    }
    const checkpoint = checkpointOf(note.text);
    if (!checkpoint || checkpoint.origin !== `blackbox/run/${this.run}` || checkpoint.size !== this.size) {
      throw new DoesNotHold(`${where}: their checkpoint is not one over ${this.size} events of this run`);
    }
    const root = this.tree.root();
    if (!isRoot(checkpoint, root)) {
      throw new DoesNotHold(`${where}: they do not lead to the root that was signed`);
    }
    this.logged = this.expected.has(this.size);
    for (const logged of this.expected.get(this.size) ?? []) {
      if (!isSame(logged.root, root)) {
        throw new DoesNotHold(`${where}: they do not lead to the root in the log of runs, leaf ${logged.leaf}`);
      }
    }
    this.expected.delete(this.size);
    this.covered = this.size;
    this.root = root;
    this.checkpoints++;
    this.signer = this.next(index, detail);
  }

  private next(index: number, detail: Value | null | undefined): Signer {
    const named = detail !== null && detail !== undefined;
    if (this.signer.kind === "direct" && !named) {
      return this.signer;
    }
    if (this.signer.kind === "epoch" && this.closed && !named) {
      return { kind: "nobody" };
    }
    if (this.signer.kind === "epoch" && !this.closed && detail instanceof Uint8Array) {
      try {
        const match = NEXT_KEY.exec(textOf(detail));
        if (match) {
          return { kind: "epoch", key: Key.of(`blackbox/run/${this.run}`, fromBase64(match[1]!)) };
        }
      } catch {
        // said below
      }
    }
    throw new DoesNotHold(`event ${index}: the heartbeat does not correctly name the signer of the next checkpoint`);
  }

  /**
   * Checks what can be checked only at the end.
   *
   * @returns what is missing, if what is there holds: the run was cut off
   * @throws DoesNotHold
   */
  finish(): string[] {
    const missing: string[] = [];
    this.account.events = this.size;
    this.account.cpus = [...this.cpus.values()].sort((a, b) => a.cpu - b.cpu);
    if (this.covered !== this.size) {
      throw new DoesNotHold(`events from ${this.covered} on are not covered by a checkpoint`);
    }
    for (const [size, [logged]] of this.expected) {
      const what = `the log of runs records ${size} events, leaf ${logged!.leaf}`;
      if (size <= this.size) {
        throw new DoesNotHold(`${what}, where no checkpoint is`);
      }
      if (this.closed) {
        throw new DoesNotHold(`${what}, but the run closes with ${this.size}`);
      }
      missing.push(`${what}, but only ${this.size} are here`);
    }
    if (!this.closed) {
      missing.push("the run's close is missing");
    } else if (this.certified && !this.logged) {
      this.notes.push("the log of runs does not contain the run's closing checkpoint");
    }
    return missing;
  }
}
