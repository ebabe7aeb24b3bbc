import { Beyond } from "./beyond";
import { Key, Note } from "./note";
import { hex, Malformed, textOf } from "./octets";
import type { Frontier } from "./merkle";
import { type Account, RunCheck } from "./run";
import { DoesNotHold, readRunsLog, type Replay, type RunsLog } from "./runslog";
import { sha256Of } from "./sha256";
import { differences, STATEMENT, statementOf } from "./statement";
import { readTable, type Rows } from "./table";
import { unpack } from "./zip";

const DATA_FILE = /^warehouse\/blackbox\/events\/data\/run=([0-9a-z]{26})\/((\d{19})-(\d{19})-[0-9a-f]{8}\.parquet)$/;

/** What this page says of a bundle. UNCHECKED: it holds something that only `blackbox verify` can read. */
export type Verdict = "VERIFIED" | "TAMPERED" | "TRUNCATED" | "UNCHECKED";

export interface Completeness {
  lost: number;
  lossKnown: boolean;
  unknownFrom: number | null;
  unknownBecause: string[];
}

export interface Report {
  verdict: Verdict;
  run: string | null;
  /** What does not hold, or is missing, and where; empty if it is verified. */
  findings: string[];
  /** What is to be said of what holds. */
  notes: string[];
  /** Events that a signature covers that was checked here. */
  events: number;
  /** The root over these events that was signed. */
  root: string | null;
  checkpoints: number;
  /** Names and ids of the keys that were believed, as text. */
  signers: string[];
  /** Whether a key was given from outside the bundle and leads to all of it. */
  trusted: boolean;
  completeness: Completeness | null;
  replays: Replay[];
  /** What this page does not check. */
  limits: string[];
}

export interface Progress {
  step: string;
  done: number;
  of: number;
}

const LOST_LIMIT = "what is lost between what the rows declare: the counts are those of the signed report";

/** Of evidence that comes from a service, which states nothing. */
const UNSTATED_LIMITS = [
  "what is lost beyond what the rows declare: those counts are the service's words, which nobody signed",
  "whether the service left out batches that were refused or are not in the table yet",
];

export const LIMITS = [
  "time stamps by outside authorities and witnesses",
  "post-quantum signatures, where the log of runs has them beside the others",
  "whether the row statistics in the data files are true, which other engines skip rows by",
  LOST_LIMIT,
  "captures, files and images, which are not in a bundle",
];

function dataFiles(files: Map<string, Uint8Array>, run: string): { name: string; file: string; first: number; end: number }[] {
  const found: { name: string; file: string; first: number; end: number }[] = [];
  for (const name of files.keys()) {
    const match = DATA_FILE.exec(name);
    if (match) {
      if (match[1] !== run) {
        throw new DoesNotHold(`${name} is of another run`);
      }
      found.push({ name, file: match[2]!, first: Number(match[3]), end: Number(match[4]) });
    } else if (name.startsWith("warehouse/") && !DATA_FILE.test(name.replace(/\.seal$/, ""))) {
      throw new DoesNotHold(`${name} is not a file of a bundle`);
    }
  }
  return found.sort((a, b) => a.first - b.first || a.end - b.end);
}

async function checkSeal(
  files: Map<string, Uint8Array>,
  data: { name: string; file: string; first: number; end: number },
  run: string,
  sealers: Key[],
): Promise<void> {
  const octets = files.get(`${data.name}.seal`);
  const note = octets && Note.parse(octets);
  if (!note) {
    throw new DoesNotHold(`${data.file}: it has no seal`);
  }
  if (!(await note.isSignedBy(sealers))) {
    throw new DoesNotHold(`${data.file}: its seal is not signed by a trusted key`);
  }
  const file = files.get(data.name)!;
  const text = [
    "blackbox/file/v1",
    run,
    data.first,
    data.end,
    data.end - data.first,
    file.length,
    hex(await sha256Of(file)),
    data.file,
    "",
  ].join("\n");
  if (note.text !== text) {
    throw new DoesNotHold(`${data.file}: it is not the file that was sealed`);
  }
}

function usable(text: string): Key {
  const key = Key.parse(text);
  if (!key) {
    throw new Beyond(`the key ${text.split("+")[0]} is of a kind that this page cannot check`);
  }
  return key;
}

/** The keys in the bundle itself, for which nobody vouches. */
function ownKeys(files: Map<string, Uint8Array>): Key[] {
  const keys: Key[] = [];
  for (const [name, octets] of files) {
    if (name.startsWith("keys/") && name.endsWith(".pub")) {
      try {
        const key = Key.parse(textOf(octets));
        if (key) {
          keys.push(key);
        }
      } catch {
        throw new DoesNotHold(`${name} is not a public key`);
      }
    }
  }
  return keys;
}

/** Makes the report again that the bundle has, as far as rows alone give it, and compares the octets. */
function completenessOf(octets: Uint8Array | undefined, account: Account, run: string, version: number): Completeness {
  let text: string;
  let said: Completeness;
  try {
    text = textOf(octets ?? new Uint8Array(0));
    said = JSON.parse(text) as Completeness;
  } catch {
    throw new DoesNotHold("completeness.json is missing or cannot be read");
  }
  const { events, cpus, declaredLost, losses, heartbeats, heartbeatGapNsMax, closedAtIndex } = account;
  const counted = { version, run, events, cpus, declaredLost, losses, heartbeats, heartbeatGapNsMax, closedAtIndex };
  const { lost, lossKnown, unknownFrom, unknownBecause } = said;
  const rest = version === 1 ? {} : { lost, lossKnown, unknownFrom, unknownBecause };
  const isIndex = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
  const holds =
    `${JSON.stringify({ ...counted, ...rest })}\n` === text &&
    (version === 1 ||
      (isIndex(lost) &&
        lost >= declaredLost &&
        typeof lossKnown === "boolean" &&
        (lossKnown ? unknownFrom === null : isIndex(unknownFrom)) &&
        Array.isArray(unknownBecause) &&
        unknownBecause.every((each) => /^[A-Z_]{1,64}$/.test(each))));
  if (!holds) {
    throw new DoesNotHold("completeness.json does not match the events");
  }
  return version === 1 ? { lost: declaredLost, lossKnown: false, unknownFrom: 0, unknownBecause: ["NOT_SAID"] } : said;
}

/**
 * Verifies a bundle's ZIP from its octets and the keys that are trusted; if none are given, from its own, and the
 * report says so. Nothing is taken on after the first thing that does not hold, but all files that were changed are
 * named.
 *
 * @param given keys as text, from outside the bundle
 * @param bare the run whose files these are, where they come from its service without a statement; else null
 * @param keep gets the rows in order, before they are verified: those at and after the report's `events` are not
 */
export async function verify(
  zip: Uint8Array,
  given: string[],
  bare: string | null,
  tell: (progress: Progress) => void,
  keep: (rows: Rows, tree: Frontier) => void,
): Promise<Report> {
  const report: Report = {
    verdict: "TAMPERED",
    run: null,
    findings: [],
    notes: [],
    events: 0,
    root: null,
    checkpoints: 0,
    signers: [],
    trusted: false,
    completeness: null,
    replays: [],
    limits: LIMITS,
  };
  let check: RunCheck | null = null;
  try {
    tell({ step: "unpacking", done: 0, of: 1 });
    const files = unpack(zip);
    const statement = bare !== null && !files.has(STATEMENT) ? null : statementOf(files);
    const run = statement?.run ?? bare!;
    report.run = run;
    if (bare !== null && bare !== run) {
      throw new DoesNotHold(`the bundle: it is of run ${run}`);
    }
    if (statement) {
      tell({ step: "comparing files with the signed statement", done: 0, of: 1 });
      const changed = await differences(files, statement.subjects);
      if (changed.length > 0) {
        report.findings = changed.map((each) => `the bundle: ${each}`);
        return report;
      }
    }
    const trusted = given.length > 0 ? given.map(usable) : ownKeys(files);
    tell({ step: "reading the log of runs", done: 0, of: 1 });
    const log = await readRunsLog(files, trusted, run);
    const believed = [...trusted, ...(log?.keys.ofLog(log.size, null) ?? [])];
    if (statement && !(await statement.isSignedBy(believed))) {
      throw new DoesNotHold("the bundle: its statement is not signed by a trusted key");
    }
    report.signers = [...new Set(believed.map((key) => `${key.name}+${key.id}`))];
    const unread = [...files.keys()].filter((name) => /^(spool|quarantine)\//.test(name));
    if (unread.length > 0) {
      report.verdict = "UNCHECKED";
      report.findings = [`${unread.length} batches are not in the table yet or were refused: ${unread[0]}`];
      return report;
    }
    check = new RunCheck(run, trusted, log);
    await checkRows(files, run, trusted, log, check, tell, keep);
    const missing = check.finish();
    const covered = check.covered;
    for (const name of files.keys()) {
      const match = name.endsWith(".seal") && !files.has(name.slice(0, -5)) && DATA_FILE.exec(name.slice(0, -5));
      if (match && Number(match[4]) > covered) {
        missing.push(`${match[2]}: the file is missing, its seal is there`);
      }
    }
    report.completeness = completenessOf(
      files.get("completeness.json"),
      check.account,
      run,
      statement?.version ?? 2,
    );
    report.replays = log?.replays ?? [];
    if (!statement) {
      report.limits = [...LIMITS.filter((each) => each !== LOST_LIMIT), ...UNSTATED_LIMITS];
    }
    report.verdict = missing.length > 0 ? "TRUNCATED" : "VERIFIED";
    report.findings = missing;
    report.notes = check.notes;
    report.trusted = given.length > 0;
  } catch (problem) {
    const what = problem instanceof Error ? problem.message : String(problem);
    report.verdict = problem instanceof Beyond ? "UNCHECKED" : "TAMPERED";
    report.findings = [problem instanceof DoesNotHold || problem instanceof Beyond ? what : `the bundle: ${what}`];
  }
  report.events = check?.covered ?? 0;
  report.root = check?.root ? hex(check.root) : null;
  report.checkpoints = check?.checkpoints ?? 0;
  return report;
}

async function checkRows(
  files: Map<string, Uint8Array>,
  run: string,
  trusted: Key[],
  log: RunsLog | null,
  check: RunCheck,
  tell: (progress: Progress) => void,
  keep: (rows: Rows, tree: Frontier) => void,
): Promise<void> {
  const sealers = [...trusted.filter((key) => !log?.keys.isRevokedSealer(key)), ...(log?.keys.sealers() ?? [])];
  const data = dataFiles(files, run);
  for (const each of data) {
    await checkSeal(files, each, run, sealers);
  }
  const end = data[data.length - 1]?.end ?? 0;
  if (end === 0) {
    throw new DoesNotHold("there is nothing of the run");
  }
  for (const each of data) {
    if (each.first > check.size) {
      throw new DoesNotHold(`events ${check.size} to ${each.first - 1} are missing from the table`);
    }
    if (each.first < check.size && each.end > check.size) {
      throw new DoesNotHold(`${each.file}: it repeats events of another file, up to ${check.size}`);
    }
    if (each.first < check.size) {
      throw new Beyond(`${each.file}: its events are in another file, too, and would have to be compared`);
    }
    try {
      await readTable(files.get(each.name)!, run, async (rows) => {
        keep(rows, check.tree);
        await check.take(rows);
        tell({ step: "verifying events", done: check.size, of: end });
      });
    } catch (problem) {
      if (problem instanceof DoesNotHold || problem instanceof Beyond) {
        throw problem;
      }
      const what = problem instanceof Malformed ? problem.message : `it cannot be read as Parquet (${String(problem)})`;
      throw new DoesNotHold(`${each.file}: ${what}`);
    }
    if (check.size !== each.end || check.covered !== each.end) {
      throw new DoesNotHold(`${each.file}: it does not end with event ${each.end - 1} and its checkpoint`);
    }
  }
}
