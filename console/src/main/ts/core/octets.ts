const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ENCODER = new TextEncoder();
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const NO_DIGIT = 255;
const VALUES = new Uint8Array(128).fill(NO_DIGIT);
for (let i = 0; i < ALPHABET.length; i++) {
  VALUES[ALPHABET.charCodeAt(i)] = i;
}

/** Text that is not in the form that it must have; the message says where and why. */
export class Malformed extends Error {}

export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** The text of these octets; throws where they are not UTF-8. */
export function textOf(octets: Uint8Array): string {
  try {
    return DECODER.decode(octets);
  } catch {
    throw new Malformed("it is not UTF-8");
  }
}

export function hex(octets: Uint8Array): string {
  let text = "";
  for (const octet of octets) {
    text += octet.toString(16).padStart(2, "0");
  }
  return text;
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, at) => octet === b[at]);
}

export function joined(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function base64(octets: Uint8Array): string {
  let text = "";
  for (let at = 0; at < octets.length; at += 3) {
    const left = octets.length - at;
    const bits = (octets[at]! << 16) | ((left > 1 ? octets[at + 1]! : 0) << 8) | (left > 2 ? octets[at + 2]! : 0);
    text += ALPHABET[bits >> 18]! + ALPHABET[(bits >> 12) & 63]!;
    text += left > 1 ? ALPHABET[(bits >> 6) & 63]! : "=";
    text += left > 2 ? ALPHABET[bits & 63]! : "=";
  }
  return text;
}

/**
 * The octets that base64 text (RFC 4648, section 4) stands for: with padding, without anything else between, and
 * without stray bits, so that one text stands for one sequence of octets. Throws `Malformed` with the place.
 */
export function fromBase64(text: string): Uint8Array {
  const length = text.length;
  if (length % 4 !== 0) {
    throw new Malformed(`base64 is cut off after ${length} characters`);
  }
  const padding = length === 0 ? 0 : text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const octets = new Uint8Array((length / 4) * 3 - padding);
  const digits = length - padding;
  let to = 0;
  let bits = 0;
  for (let at = 0; at < digits; at++) {
    const code = text.charCodeAt(at);
    const value = code < 128 ? VALUES[code]! : NO_DIGIT;
    if (value === NO_DIGIT) {
      throw new Malformed(`there is no base64 digit at character ${at}, which is in octet ${Math.floor((at * 3) / 4)}`);
    }
    bits = ((bits << 6) | value) & 0xffffff;
    switch (at & 3) {
      case 1:
        octets[to++] = bits >> 4;
        break;
      case 2:
        octets[to++] = bits >> 2;
        break;
      case 3:
        octets[to++] = bits;
        break;
    }
  }
  if ((padding === 1 && (bits & 3) !== 0) || (padding === 2 && (bits & 15) !== 0)) {
    throw new Malformed("the last octet of base64 has stray bits");
  }
  return octets;
}
