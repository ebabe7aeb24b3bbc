import { leafHash, nodeHash, sha256 } from "./sha256";

/** Leaves below a hash that is kept, so that a proof needs few of them again. */
const TILE = 256;

/** A step from a leaf to the root: the hash beside, and on which side it is. */
export interface Step {
  side: "left" | "right";
  hash: Uint8Array;
}

/** The root of a growing Merkle tree (RFC 9162, section 2.1.1), from its complete subtrees, largest first. */
export class Frontier {
  private readonly subtrees: Uint8Array[] = [];
  private readonly tiles: Uint8Array[] = [];
  size = 0;

  /** Adds a leaf. @returns its hash */
  append(octets: Uint8Array): Uint8Array {
    const leaf = leafHash(octets);
    let hash = leaf;
    let leaves = 1;
    for (let rest = this.size; rest % 2 === 1; rest = (rest - 1) / 2) {
      hash = nodeHash(this.subtrees.pop()!, hash);
      leaves *= 2;
      if (leaves === TILE) {
        this.tiles.push(hash);
      }
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

  /**
   * The hash of the leaves from `from` to before `to`.
   *
   * @param leaf gives the hash of a leaf
   */
  private hashOf(from: number, to: number, leaf: (index: number) => Uint8Array): Uint8Array {
    if (to - from === 1) {
      return leaf(from);
    }
    if (to - from === TILE && from % TILE === 0) {
      return this.tiles[from / TILE]!;
    }
    const middle = from + half(to - from);
    return nodeHash(this.hashOf(from, middle, leaf), this.hashOf(middle, to, leaf));
  }

  /**
   * The inclusion proof of a leaf in the tree over the first `size` leaves (RFC 9162, section 2.1.3.1), from the leaf up.
   *
   * @param leaf gives the hash of a leaf
   */
  proof(index: number, size: number, leaf: (index: number) => Uint8Array): Step[] {
    const down: Step[] = [];
    for (let from = 0, to = size; to - from > 1; ) {
      const middle = from + half(to - from);
      if (index < middle) {
        down.push({ side: "right", hash: this.hashOf(middle, to, leaf) });
        to = middle;
      } else {
        down.push({ side: "left", hash: this.hashOf(from, middle, leaf) });
        from = middle;
      }
    }
    return down.reverse();
  }
}

/** Where a proof leads. */
export function rootFrom(leaf: Uint8Array, steps: Step[]): Uint8Array {
  return steps.reduce((hash, step) => (step.side === "left" ? nodeHash(step.hash, hash) : nodeHash(hash, step.hash)), leaf);
}

/** The largest power of two below `size`, which is at least 2. */
function half(size: number): number {
  let power = 1;
  while (power * 2 < size) {
    power *= 2;
  }
  return power;
}

/** The root over hashes of complete subtrees of equal size, of which there are as many as a full tile has or fewer. */
export function rootOf(hashes: Uint8Array[]): Uint8Array {
  if (hashes.length === 1) {
    return hashes[0]!;
  }
  const middle = half(hashes.length);
  return nodeHash(rootOf(hashes.slice(0, middle)), rootOf(hashes.slice(middle)));
}
