import { isKeyStatement, isTime, KeyHistory } from "./keys";
import { Frontier, rootOf } from "./merkle";
import { type Checkpoint, checkpointOf, isRoot, Key, Note } from "./note";
import { isSame } from "./octets";
import { HASH_LENGTH } from "./sha256";

const TILE = 256;
const ENTRY_MAX = 65_535;

/** The certificate of a run's first key, as a leaf of the log of runs. */
export interface Certificate {
  text: string;
  run: string;
  firstKey: Key;
}

/** The verdict on a replay, as a leaf of the log of runs. */
export interface Replay {
  run: string;
  outcome: string;
  at: string;
}

/** A log of runs that holds, and what it says of one run. */
export interface RunsLog {
  keys: KeyHistory;
  size: number;
  certificates: Certificate[];
  /** Checkpoints of the run, with the index of their leaf. */
  checkpoints: (Checkpoint & { leaf: number })[];
  replays: Replay[];
}

/** Something that does not hold, and what it means: the message is for people. */
export class DoesNotHold extends Error {}

export function certificateOf(text: string): Certificate | null {
  const lines = text.split("\n");
  const [version, run, keyText, issued, end] = lines;
  if (lines.length !== 5 || version !== "blackbox/run-key/v1" || end !== "" || !isTime(issued) || !run || !keyText) {
    return null;
  }
  try {
    const firstKey = Key.parse(keyText);
    const holds = firstKey && firstKey.encoded === keyText && firstKey.name === `blackbox/run/${run}`;
    return holds ? { text, run, firstKey } : null;
  } catch {
    return null;
  }
}

function replayOf(text: string): Replay | null {
  const [version, run, tier, outcome, document, at, end] = text.split("\n");
  const known =
    version === "blackbox/replay/v1" &&
    text.split("\n").length === 7 &&
    end === "" &&
    /^(exact|rerun)$/.test(tier ?? "") &&
    /^(IDENTICAL|EQUIVALENT|DIVERGED|INCOMPLETE|ENGINE_FAILED)$/.test(outcome ?? "") &&
    /^[0-9a-f]{64}$/.test(document ?? "") &&
    isTime(at);
  return known ? { run: run!, outcome: outcome!, at } : null;
}

function tilePath(kind: string, index: number, width: number): string {
  let rest = index;
  let path = String(rest % 1000).padStart(3, "0");
  for (rest = Math.floor(rest / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    path = `x${String(rest % 1000).padStart(3, "0")}/${path}`;
  }
  return `log/tile/${kind}/${path}${width < TILE ? `.p/${width}` : ""}`;
}

/** A tile, or the full one that it has grown into. */
function tile(files: Map<string, Uint8Array>, kind: string, index: number, width: number): Uint8Array | undefined {
  return files.get(tilePath(kind, index, width)) ?? files.get(tilePath(kind, index, TILE));
}

function* entries(files: Map<string, Uint8Array>, size: number): Generator<Uint8Array> {
  for (let first = 0; first < size; first += TILE) {
    const width = Math.min(TILE, size - first);
    const octets = tile(files, "entries", first / TILE, width);
    if (!octets) {
      throw new DoesNotHold(`the log of runs: its entries from ${first} on are missing`);
    }
    let at = 0;
    for (let i = 0; i < width; i++) {
      const length = at + 2 <= octets.length ? octets[at]! * 256 + octets[at + 1]! : ENTRY_MAX + 1;
      if (at + 2 + length > octets.length) {
        throw new DoesNotHold(`the log of runs: its entry ${first + i} is cut off`);
      }
      yield octets.subarray(at + 2, at + 2 + length);
      at += 2 + length;
    }
    const whole = files.has(tilePath("entries", first / TILE, width));
    if (whole && at !== octets.length) {
      throw new DoesNotHold(`the log of runs: something follows its entry ${first + width - 1}`);
    }
  }
}

/** Compares the tiles of hashes that are there with what the entries lead to. */
function checkTiles(files: Map<string, Uint8Array>, leaves: Uint8Array[]): void {
  let hashes = leaves;
  for (let level = 0; hashes.length > 0; level++) {
    const above: Uint8Array[] = [];
    for (let first = 0; first < hashes.length; first += TILE) {
      const part = hashes.slice(first, first + TILE);
      const octets = tile(files, String(level), first / TILE, part.length);
      if (!octets) {
        throw new DoesNotHold(`the log of runs: ${tilePath(String(level), first / TILE, part.length)} is missing`);
      }
      const whole = files.has(tilePath(String(level), first / TILE, part.length));
      if (whole && octets.length !== part.length * HASH_LENGTH) {
        throw new DoesNotHold(`the log of runs: ${tilePath(String(level), first / TILE, part.length)} has another length`);
      }
      part.forEach((hash, i) => {
        if (!isSame(hash, octets.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH))) {
          throw new DoesNotHold(
            `the log of runs: ${tilePath(String(level), first / TILE, part.length)} does not belong to its entries`,
          );
        }
      });
      if (part.length === TILE) {
        above.push(rootOf(part));
      }
    }
    hashes = above;
  }
}

/**
 * Reads the log of runs from its first leaf to its last (schemas/log.md, schemas/trust.md).
 *
 * @param run whose leaves are wanted
 * @returns null if there is none
 * @throws DoesNotHold if there is one that does not hold
 */
export async function readRunsLog(
  files: Map<string, Uint8Array>,
  trusted: Key[],
  run: string,
): Promise<RunsLog | null> {
  const head = files.get("log/checkpoint");
  if (!head) {
    if ([...files.keys()].some((name) => name.startsWith("log/"))) {
      throw new DoesNotHold("the log of runs has entries but no checkpoint");
    }
    return null;
  }
  const note = Note.parse(head);
  const checkpoint = note && checkpointOf(note.text);
  if (!note || !checkpoint) {
    throw new DoesNotHold("the log of runs: its checkpoint is not a signed checkpoint");
  }
  const keys = new KeyHistory(trusted);
  const tree = new Frontier();
  const log: RunsLog = { keys, size: checkpoint.size, certificates: [], checkpoints: [], replays: [] };
  const leaves: Uint8Array[] = [];
  let index = 0;
  for (const entry of entries(files, checkpoint.size)) {
    leaves.push(tree.append(entry));
    await take(log, index++, entry, run);
  }
  if (!isRoot(checkpoint, tree.root())) {
    throw new DoesNotHold("the log of runs: its entries do not lead to the root that its checkpoint signs");
  }
  checkTiles(files, leaves);
  if (!keys.isTrusted) {
    throw new DoesNotHold("the log of runs: none of its keys is trusted");
  }
  if (checkpoint.origin !== keys.origin) {
    throw new DoesNotHold(`the log of runs: its checkpoint is of another log, ${checkpoint.origin}`);
  }
  const believed = keys.ofLog(checkpoint.size, null);
  if (!(await note.isSignedBy(believed)) || !(await note.isSignedBy([...believed, ...trusted]))) {
    throw new DoesNotHold("the log of runs: its checkpoint is not signed by the key that signs it at that size");
  }
  return log;
}

async function take(log: RunsLog, index: number, entry: Uint8Array, run: string): Promise<void> {
  const note = Note.parse(entry);
  const broken = (what: string): never => {
    throw new DoesNotHold(`the log of runs: leaf ${index}${what}`);
  };
  if (!note) {
    return broken(" is not a signed note");
  }
  if (isKeyStatement(note.text)) {
    const wrong = await log.keys.add(index, note);
    return wrong ? broken(`, a key statement: ${wrong}`) : undefined;
  }
  if (index === 0) {
    return broken(" does not name the log's first key");
  }
  const checkpoint = checkpointOf(note.text);
  if (checkpoint) {
    if (checkpoint.origin === `blackbox/run/${run}`) {
      log.checkpoints.push({ ...checkpoint, leaf: index });
    }
    return;
  }
  if (note.text.startsWith("blackbox/replay/")) {
    const replay = replayOf(note.text);
    if (!replay) {
      return broken(" is not a verdict on a replay of a known version");
    }
    if (replay.run === run) {
      if (!(await note.isSignedBy(log.keys.ofLog(index, replay.at)))) {
        broken(", the verdict on a replay of the run, is not signed by a key that was valid at that point");
      }
      log.replays.push(replay);
    }
    return;
  }
  const certificate = certificateOf(note.text);
  if (!certificate) {
    return broken(" is a note of an unknown kind");
  }
  if (certificate.run === run) {
    const issued = note.text.split("\n")[3]!;
    if (!(await note.isSignedBy(log.keys.ofLog(index, issued)))) {
      broken(", the certificate of the run's first key, is not signed by a key that was valid at that point");
    }
    log.certificates.push(certificate);
  }
}

