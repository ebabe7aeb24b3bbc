import type { Key } from "./note";
import { fromBase64, hex, joined, textOf, utf8 } from "./octets";
import { DoesNotHold } from "./runslog";
import { sha256Of } from "./sha256";

export const STATEMENT = "statement.dsse.json";
const TYPE = "application/vnd.in-toto+json";
const RUN = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid?: string; sig: string }[];
}

interface Statement {
  _type: string;
  subject: { name: string; digest: { sha256: string } }[];
  predicateType: string;
  predicate: { format: string; run: string };
}

/** A bundle's statement: what it is about, and who says so. */
export interface Signed {
  run: string;
  /** Of its format. */
  version: number;
  subjects: Map<string, string>;
  isSignedBy(keys: Key[]): Promise<boolean>;
}

/** JSON in the one form that it is written in: read and written again, it has the same octets. */
function exactly<T>(octets: Uint8Array, what: string): T {
  try {
    const text = textOf(octets);
    const value: unknown = JSON.parse(text);
    if (JSON.stringify(value) === text) {
      return value as T;
    }
  } catch {
    // said below
  }
  throw new DoesNotHold(`the bundle: ${what} is not in the form that it must have`);
}

function isStatement(statement: Statement): boolean {
  const keys = (value: object): string => Object.keys(value).join();
  return (
    keys(statement) === "_type,subject,predicateType,predicate" &&
    statement._type === "https://in-toto.io/Statement/v1" &&
    statement.predicateType === "urn:blackbox:bundle:v1" &&
    keys(statement.predicate) === "format,run" &&
    ["bundle/v1", "bundle/v2"].includes(statement.predicate.format) &&
    RUN.test(statement.predicate.run) &&
    statement.subject.length > 0 &&
    statement.subject.every(
      (each) => keys(each) === "name,digest" && keys(each.digest) === "sha256" && /^[0-9a-f]{64}$/.test(each.digest.sha256),
    )
  );
}

/** Reads a bundle's statement. @throws DoesNotHold if there is none */
export function statementOf(files: Map<string, Uint8Array>): Signed {
  const octets = files.get(STATEMENT);
  if (!octets) {
    throw new DoesNotHold(`the bundle: it has no ${STATEMENT}`);
  }
  const envelope = exactly<Envelope>(octets, "its statement");
  let payload: Uint8Array;
  let signatures: { keyid?: string; octets: Uint8Array }[];
  let statement: Statement;
  try {
    payload = fromBase64(envelope.payload);
    signatures = envelope.signatures.map(({ keyid, sig }) => ({ keyid, octets: fromBase64(sig) }));
    statement = exactly<Statement>(payload, "its statement");
    if (envelope.payloadType !== TYPE || !isStatement(statement)) {
      throw new Error();
    }
  } catch {
    throw new DoesNotHold("the bundle: its statement is not in the form that it must have");
  }
  const subjects = new Map(statement.subject.map((each) => [each.name, each.digest.sha256]));
  if (subjects.size !== statement.subject.length) {
    throw new DoesNotHold("the bundle: its statement names a file twice");
  }
  const message = joined(utf8(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload);
  return {
    run: statement.predicate.run,
    version: statement.predicate.format === "bundle/v1" ? 1 : 2,
    subjects,
    async isSignedBy(keys) {
      let found = false;
      for (const { keyid, octets: signature } of signatures) {
        for (const key of keys) {
          if (keyid !== undefined && keyid !== `${key.name}+${key.id}`) {
            continue;
          }
          const holds = await key.verify(message, signature);
          if (!holds && keyid !== undefined) {
            return false;
          }
          found ||= holds;
        }
      }
      return found;
    },
  };
}

/** What differs between the files that are there and those that the statement names; empty if nothing does. */
export async function differences(files: Map<string, Uint8Array>, subjects: Map<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (const [name, digest] of subjects) {
    const octets = files.get(name);
    if (!octets) {
      found.push(`${name} is missing`);
    } else if (hex(await sha256Of(octets)) !== digest) {
      found.push(`${name} was changed after the bundle was signed`);
    }
  }
  for (const name of files.keys()) {
    if (name !== STATEMENT && !subjects.has(name)) {
      found.push(`${name} is not one of its files`);
    }
  }
  return found;
}
