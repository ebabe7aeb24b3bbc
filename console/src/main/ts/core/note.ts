import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { base64, fromBase64, hex, isSame, joined, textOf, utf8 } from "./octets";
import { HASH_LENGTH, sha256 } from "./sha256";

const ED25519 = 1;
const ECDSA = 2;
/** A SubjectPublicKeyInfo on P-256 up to its uncompressed point. */
const P256_SPKI = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
const P256_POINT_LENGTH = 65;
const KEY_LENGTH = 32;
/** Of keys that cosign, and of post-quantum ones. */
const OTHER_TYPES = [0x04, 0x06, 0xff];
const SIGNATURE_LENGTH = 64;
const SIGNATURES_MAX = 100;
const DASH = "\u2014 ";

/** Whether the browser checks Ed25519 itself; asked once. */
let native: Promise<boolean> | undefined;

async function isNative(): Promise<boolean> {
  try {
    await globalThis.crypto.subtle.importKey("raw", new Uint8Array(KEY_LENGTH).fill(1), "Ed25519", false, ["verify"]);
    return true;
  } catch (refused) {
    return refused instanceof DOMException && refused.name === "DataError"; // it knows the algorithm, not the key
  }
}

/** A public key under a name (C2SP signed-note): Ed25519, type 0x01, or ECDSA on P-256, type 0x02. */
export class Key {
  private constructor(
    readonly name: string,
    readonly id: string,
    readonly encoded: string,
    private readonly type: number,
    private readonly octets: Uint8Array,
  ) {}

  /**
   * Reads `<name>+<key id>+<base64 of type and public key>`.
   *
   * @returns null for a key of another algorithm, which this page cannot check
   * @throws Error if it is no verifier key
   */
  static parse(text: string): Key | null {
    const match = /^([^+\s\p{Cc}\p{Z}]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/u.exec(text.trim());
    if (!match) {
      throw new Error("not a verifier key, which is <name>+<8 hex digits>+<base64>");
    }
    const octets = fromBase64(match[3]!);
    if (!OTHER_TYPES.includes(octets[0]!) && octets[0] !== ED25519 && octets[0] !== ECDSA) {
      throw new Error("not a verifier key: it has no type that there is");
    }
    if (octets[0] !== ED25519 && octets[0] !== ECDSA) {
      return null;
    }
    const key = Key.typed(match[1]!, octets[0], octets.slice(1));
    const point = key.octets.slice(-P256_POINT_LENGTH);
    const fits =
      key.type === ED25519
        ? key.octets.length === KEY_LENGTH
        : hex(key.octets.slice(0, -P256_POINT_LENGTH)) === P256_SPKI && point[0] === 4;
    if (!fits || key.id !== match[2] || key.encoded !== text.trim()) {
      throw new Error("not a verifier key: its id does not match it, or it is cut off");
    }
    return key;
  }

  /** An Ed25519 key. */
  static of(name: string, octets: Uint8Array): Key {
    return Key.typed(name, ED25519, octets);
  }

  private static typed(name: string, type: number, octets: Uint8Array): Key {
    const typed = joined(Uint8Array.of(type), octets);
    // Keys of ECDSA have an id of their own kind: over the key alone.
    const id = hex(sha256(type === ECDSA ? octets : joined(utf8(`${name}\n`), typed)).slice(0, 4));
    return new Key(name, id, `${name}+${id}+${base64(typed)}`, type, octets);
  }

  /** Whether `signature` is this key's over `message`. */
  async verify(message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    if (this.type === ECDSA) {
      try {
        const point = this.octets.slice(-P256_POINT_LENGTH);
        return p256.verify(signature, message, point, { format: "der", prehash: true, lowS: false });
      } catch {
        return false;
      }
    }
    if (signature.length !== SIGNATURE_LENGTH) {
      return false;
    }
    native ??= isNative();
    try {
      if (await native) {
        const subtle = globalThis.crypto.subtle;
        const key = await subtle.importKey("raw", this.octets as BufferSource, "Ed25519", false, ["verify"]);
        return await subtle.verify("Ed25519", key, signature as BufferSource, message as BufferSource);
      }
      return ed25519.verify(signature, message, this.octets, { zip215: false });
    } catch {
      return false; // octets that are no key sign nothing
    }
  }
}

interface Line {
  name: string;
  id: string;
  signature: Uint8Array;
}

/** A C2SP signed note. */
export class Note {
  private constructor(
    /** What is signed, with its last newline. */
    readonly text: string,
    private readonly lines: Line[],
  ) {}

  /** Reads a note; null where it is malformed. */
  static parse(octets: Uint8Array | string): Note | null {
    let whole: string;
    try {
      whole = typeof octets === "string" ? octets : textOf(octets);
    } catch {
      return null;
    }
    const split = whole.lastIndexOf("\n\n");
    if (split < 0 || !whole.endsWith("\n") || /[\u0000-\u0009\u000b-\u001f\ud800-\udfff]/u.test(whole)) {
      return null;
    }
    const signed = whole.slice(split + 2, -1).split("\n");
    if (signed.length > SIGNATURES_MAX) {
      return null;
    }
    const lines: Line[] = [];
    for (const each of signed) {
      const match = each.startsWith(DASH) ? /^([^+\p{Z}\p{Cc}]+) (\S+)$/u.exec(each.slice(DASH.length)) : null;
      if (!match) {
        return null;
      }
      try {
        const octets = fromBase64(match[2]!);
        if (octets.length < 5) {
          return null;
        }
        lines.push({ name: match[1]!, id: hex(octets.slice(0, 4)), signature: octets.slice(4) });
      } catch {
        return null;
      }
    }
    return new Note(whole.slice(0, split + 1), lines);
  }

  /** Names and ids of the keys that its lines name; nothing is checked. */
  signers(): string[] {
    return this.lines.map((line) => `${line.name}+${line.id}`);
  }

  /**
   * Whether one of these keys signed it. Not so if a line names one of them and does not verify, whatever the
   * other lines say; lines of other keys are passed over.
   */
  async isSignedBy(keys: Key[]): Promise<boolean> {
    let found = false;
    const message = utf8(this.text);
    for (const line of this.lines) {
      for (const key of keys) {
        if (key.name === line.name && key.id === line.id) {
          if (!(await key.verify(message, line.signature))) {
            return false;
          }
          found = true;
        }
      }
    }
    return found;
  }
}

/** A log's state (C2SP tlog-checkpoint, without extension lines). */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
}

/** Reads a note's text; null where it is not exactly a checkpoint. */
export function checkpointOf(text: string): Checkpoint | null {
  const lines = text.split("\n");
  if (lines.length !== 4 || lines[3] !== "" || lines[0] === "" || !/^(0|[1-9][0-9]{0,15})$/.test(lines[1]!)) {
    return null;
  }
  const size = Number(lines[1]);
  try {
    const root = fromBase64(lines[2]!);
    return root.length === HASH_LENGTH && Number.isSafeInteger(size) ? { origin: lines[0]!, size, root } : null;
  } catch {
    return null;
  }
}

export function isRoot(checkpoint: Checkpoint, root: Uint8Array): boolean {
  return isSame(checkpoint.root, root);
}
