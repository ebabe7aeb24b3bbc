import { Beyond } from "./beyond";
import { Key, type Note } from "./note";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;
const LINES = 8;
const NO_END = "-";
export const NEVER = Number.MAX_SAFE_INTEGER;

/** Whether it is a time as notes have it. Such texts are in the order of their times. */
export function isTime(text: string | undefined): text is string {
  if (text === undefined || !TIME.test(text)) {
    return false;
  }
  const millis = `${text.slice(0, 23)}Z`;
  const date = new Date(millis);
  return !Number.isNaN(date.getTime()) && date.toISOString() === millis; // no 30th of February
}

interface Statement {
  action: string;
  origin: string;
  key: Key | null;
  keyText: string;
  role: string;
  from: string;
  until: string | null;
}

interface Span {
  role: string;
  key: Key | null;
  keyText: string;
  fromIndex: number;
  endIndex: number;
  from: string;
  until: string | null;
}

export function isKeyStatement(text: string): boolean {
  return text.startsWith("blackbox/key/");
}

/** Reads a note's text; null where it is not exactly a key statement of version 1 (schemas/trust.md). */
function statementOf(text: string): Statement | null {
  const lines = text.split("\n");
  const [version, action, origin, keyText, role, from, until, end] = lines;
  if (lines.length !== LINES || end !== "" || version !== "blackbox/key/v1" || !isTime(from) || !origin || !keyText) {
    return null;
  }
  const ends = until !== NO_END;
  let key: Key | null;
  try {
    key = Key.parse(keyText);
  } catch {
    return null;
  }
  if (key && key.encoded !== keyText) {
    return null;
  }
  const ofLog = action === "begin" || action === "rotate";
  const known = ofLog || action === "certify" || action === "revoke";
  if (
    !known ||
    (role !== "log" && role !== "ingest") ||
    (ends && (!isTime(until) || until <= from)) ||
    (ofLog && role !== "log") ||
    (action === "certify" && role === "log") ||
    (action === "revoke" && ends) ||
    (role === "log" && keyText.split("+")[0] !== origin)
  ) {
    return null;
  }
  return { action: action!, origin, key, keyText, role, from, until: ends ? until! : null };
}

/**
 * The keys of one log of runs by its own key statements (schemas/trust.md), fed in the log's order. After a
 * statement that does not hold, `add` has said so, and nothing may be believed.
 */
export class KeyHistory {
  private readonly spans: Span[] = [];
  private current: Span | null = null;
  private latest = "";
  origin: string | null = null;
  /** Whether one of the log's own keys is among those that are trusted. */
  isTrusted = false;

  constructor(private readonly trusted: Key[]) {}

  /** When the log began, or null. */
  begunAt(): string | null {
    return this.spans[0]?.from ?? null;
  }

  /** @returns what is wrong with the statement, or null */
  async add(index: number, note: Note): Promise<string | null> {
    const said = statementOf(note.text);
    if (!said) {
      return "it is not a key statement of a known version";
    }
    if ((index === 0) !== (said.action === "begin")) {
      return "a log must begin with the statement that names its first key";
    }
    if (this.origin !== null && this.origin !== said.origin) {
      return `it speaks of another log, ${said.origin}`;
    }
    if (said.from < this.latest) {
      return "its time is earlier than that of the statement before it";
    }
    if (said.role === "log" && said.key === null) {
      throw new Beyond("a key of the log of runs is of a kind that this page cannot check");
    }
    const byItself = said.key !== null && (await note.isSignedBy([said.key]));
    const now = this.current;
    const byCurrent =
      now !== null && now.key !== null && KeyHistory.isAt(now, said.from) && (await note.isSignedBy([now.key]));
    const signed =
      said.action === "begin" ? byItself : said.action === "rotate" ? byItself && byCurrent : byCurrent;
    if (!signed) {
      return "it is not signed by the required keys";
    }
    this.latest = said.from;
    this.origin = said.origin;
    return this.apply(index, said);
  }

  private apply(index: number, said: Statement): string | null {
    const known = this.spans.find((span) => KeyHistory.isOf(span, said));
    switch (said.action) {
      case "begin":
        this.begin(said, 0);
        break;
      case "rotate":
        if (known) {
          return "a key that the log had before cannot return";
        }
        if (this.current) {
          this.current.endIndex = Math.min(this.current.endIndex, index + 1);
        }
        this.begin(said, index + 1);
        break;
      case "certify":
        this.spans.push(KeyHistory.span(said, index + 1));
        break;
      default:
        if (!known) {
          return "it revokes a key that the log never named";
        }
        for (const span of this.spans) {
          if (KeyHistory.isOf(span, said)) {
            span.endIndex = Math.min(span.endIndex, index + 1);
          }
        }
        this.current = this.current === known ? null : this.current;
    }
    return null;
  }

  private begin(said: Statement, fromIndex: number): void {
    this.current = KeyHistory.span(said, fromIndex);
    this.spans.push(this.current);
    this.isTrusted ||= this.trusted.some((key) => key.encoded === said.keyText);
  }

  private static span(said: Statement, fromIndex: number): Span {
    const { role, key, keyText, from, until } = said;
    return { role, key, keyText, fromIndex, endIndex: NEVER, from, until };
  }

  private static isOf(span: Span, said: Statement): boolean {
    return span.role === said.role && span.keyText === said.keyText;
  }

  private static isAt(span: Span, time: string): boolean {
    return time >= span.from && (span.until === null || time < span.until);
  }

  /** The log's own keys for the leaf at `index`, or for its checkpoint over `index` leaves; at a time if there is one. */
  ofLog(index: number, time: string | null): Key[] {
    return this.keys(
      (span) =>
        span.role === "log" &&
        span.fromIndex <= index &&
        index < span.endIndex &&
        (time === null || KeyHistory.isAt(span, time)),
    );
  }

  /** The keys whose seals on data files count. */
  sealers(): Key[] {
    const revoked = new Set(
      this.spans.filter((span) => span.role === "ingest" && span.endIndex !== NEVER).map((span) => span.keyText),
    );
    return this.keys((span) => span.role === "ingest" && !revoked.has(span.keyText));
  }

  /** Whether the log says that the key seals nothing anymore. */
  isRevokedSealer(key: Key): boolean {
    return this.spans.some(
      (span) => span.role === "ingest" && span.endIndex !== NEVER && span.keyText === key.encoded,
    );
  }

  private keys(wanted: (span: Span) => boolean): Key[] {
    return this.spans.filter(wanted).flatMap((span) => (span.key ? [span.key] : []));
  }
}
