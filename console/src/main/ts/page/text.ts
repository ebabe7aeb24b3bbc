import type { Value } from "../core/leaf";
import { hex } from "../core/octets";

const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT = new TextDecoder("utf-8", { fatal: true });
/** Controls, what changes the direction of text, what is not seen, and what is taken for a space and is none. */
const UNSEEN = /(?! )[\p{Zs}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u3164\u115f\u1160\uffa0\u034f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
/** Letters that are written from right to left, beside which others would change places. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ISOLATE = "\u2068";
const ISOLATED = "\u2069";

/** Recorded text as people may see it: nothing in it moves, hides or turns what is around it. */
export function printable(text: string): string {
  const seen = text.replace(UNSEEN, (each) =>
    each === "\n" ? "\u240a" : each === "\t" ? "\u2409" : `\\u{${each.codePointAt(0)!.toString(16)}}`,
  );
  return RIGHT_TO_LEFT.test(seen) ? ISOLATE + seen + ISOLATED : seen;
}

export function isUtf8(octets: Uint8Array): boolean {
  try {
    STRICT.decode(octets);
    return true;
  } catch {
    return false;
  }
}

export function shown(octets: Uint8Array): string {
  return printable(LENIENT.decode(octets));
}

/** A value for people; `bytes` says that it is not text. */
export function valueText(value: Value, bytes: boolean): string {
  if (Array.isArray(value)) {
    return value.map((each) => quoted(shown(each))).join(" ");
  }
  if (value instanceof Uint8Array) {
    return bytes ? hex(value) : shown(value) + (isUtf8(value) ? "" : "   (not UTF-8)");
  }
  return String(value);
}

/** A word as a shell would take it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A time in ns since 1970, in UTC, to the microsecond. */
export function timeText(atNs: bigint | number | null | undefined): string {
  if (atNs === null || atNs === undefined) {
    return "";
  }
  const micros = BigInt(atNs) / 1000n;
  const date = new Date(Number(micros / 1000n));
  if (Number.isNaN(date.getTime())) {
    return String(atNs);
  }
  return `${date.toISOString().slice(0, -1)}${String(micros % 1000n).padStart(3, "0")}Z`;
}
