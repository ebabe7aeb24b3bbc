import { leafHash, nodeHash, sha256 } from "./sha256";

/** The root of a growing Merkle tree (RFC 9162, section 2.1.1), from its complete subtrees, largest first. */
export class Frontier {
  private readonly subtrees: Uint8Array[] = [];
  size = 0;

  /** Adds a leaf. @returns its hash */
  append(octets: Uint8Array): Uint8Array {
    const leaf = leafHash(octets);
    let hash = leaf;
    for (let rest = this.size; rest % 2 === 1; rest = (rest - 1) / 2) {
      hash = nodeHash(this.subtrees.pop()!, hash);
    }
    this.subtrees.push(hash);
    this.size++;
    return leaf;
  }

  root(): Uint8Array {
    if (this.size === 0) {
      return sha256(new Uint8Array(0));
    }
    let hash = this.subtrees[this.subtrees.length - 1]!;
    for (let at = this.subtrees.length - 2; at >= 0; at--) {
      hash = nodeHash(this.subtrees[at]!, hash);
    }
    return hash;
  }
}

/** The root over hashes of complete subtrees of equal size, of which there are as many as a full tile has or fewer. */
export function rootOf(hashes: Uint8Array[]): Uint8Array {
  if (hashes.length === 1) {
    return hashes[0]!;
  }
  let half = 1;
  while (half * 2 < hashes.length) {
    half *= 2;
  }
  return nodeHash(rootOf(hashes.slice(0, half)), rootOf(hashes.slice(half)));
}
