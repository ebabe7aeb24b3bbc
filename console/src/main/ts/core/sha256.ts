import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";

/** For fewer octets than this, asking the browser's own function costs more than it saves. */
const LARGE = 1 << 14;

export const HASH_LENGTH = 32;

export function sha256(octets: Uint8Array): Uint8Array {
  return nobleSha256(octets);
}

/** The same for a file, by the browser where it can. */
export async function sha256Of(octets: Uint8Array): Promise<Uint8Array> {
  const subtle = globalThis.crypto?.subtle;
  if (octets.length < LARGE || !subtle) {
    return nobleSha256(octets);
  }
  return new Uint8Array(await subtle.digest("SHA-256", octets as Uint8Array<ArrayBuffer>));
}

const blank = nobleSha256.create();
const work = nobleSha256.create();
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** One state for all hashes of a tree: a new one for each of millions costs more than hashing. */
function begun(prefix: Uint8Array): typeof work {
  return blank._cloneInto(work).update(prefix) as typeof work;
}

function ended(): Uint8Array {
  const hash = new Uint8Array(HASH_LENGTH);
  work.digestInto(hash);
  return hash;
}

/** The hash of a leaf (RFC 6962, section 2.1). */
export function leafHash(leaf: Uint8Array): Uint8Array {
  begun(LEAF).update(leaf);
  return ended();
}

/** The hash of a node over two others. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  begun(NODE).update(left).update(right);
  return ended();
}
