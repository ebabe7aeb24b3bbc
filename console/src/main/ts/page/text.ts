import type { Value } from "../core/leaf";
import { hex } from "../core/octets";

const LENIENT = new TextDecoder("utf-8");
const STRICT = new TextDecoder("utf-8", { fatal: true });
/** Controls, and what changes the direction of text or is not seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u3164\u115f\u1160\uffa0]/gu;

/** Recorded text as people may see it: nothing in it moves, hides or turns what is around it. */
export function printable(text: string): string {
  return text.replace(UNSEEN, (each) =>
    each === "\n" ? "\\n" : each === "\t" ? "\\t" : `\\u{${each.codePointAt(0)!.toString(16)}}`,
  );
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
