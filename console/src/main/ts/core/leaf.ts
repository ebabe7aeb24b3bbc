import columnsJson from "../formats/columns.json";
import { Malformed } from "./octets";

/** A column of the leaf (schemas/leaf.md). */
export interface Column {
  name: string;
  id: number;
  type: "INT" | "LONG" | "STRING" | "BYTES" | "STRING_LIST";
}

/** The leaf's columns by ascending id, which is their order in a leaf. */
export const COLUMNS: Column[] = columnsJson
  .filter((column) => column.leaf !== null)
  .map((column) => ({ name: column.name, id: column.fieldId, type: column.leaf as Column["type"] }))
  .sort((a, b) => a.id - b.id);

/** The field id of a column of the table, which its name has in `formats/columns.json`. */
export function idOf(name: string): number {
  const column = columnsJson.find((each) => each.name === name);
  if (!column) {
    throw new Error(`the table has no column ${name}`);
  }
  return column.fieldId;
}

/** A value as a leaf has it; text is octets, because not all text of a guest is UTF-8. */
export type Value = number | bigint | Uint8Array | Uint8Array[];

const VERSION = 1;
const LEAF_MAX = 65_535;
const ID_MAX = 63;

/** Writes one leaf after the other into the same octets. */
export class LeafWriter {
  private readonly buffer = new Uint8Array(LEAF_MAX + 1024);
  private at = 0;

  begin(): void {
    this.buffer[0] = VERSION;
    this.at = 1;
  }

  /**
   * Adds a column that has a value; they come by ascending id.
   *
   * @throws Malformed if it is not a value of the column's type: another value may have the same octets in a leaf, and
   *     would be shown in its place
   */
  put(column: Column, value: unknown): void {
    this.room(12);
    this.buffer[this.at++] = column.id;
    switch (column.type) {
      case "INT":
        if (typeof value !== "number" || (value | 0) !== value) {
          throw new Malformed(`${column.name} is not a number of 32 bits`);
        }
        this.integer(value);
        break;
      case "LONG":
        if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value) {
          throw new Malformed(`${column.name} is not a number of 64 bits`);
        }
        this.long(value);
        break;
      case "STRING_LIST":
        if (!Array.isArray(value)) {
          throw new Malformed(`${column.name} is not a list`);
        }
        this.unsigned(value.length);
        value.forEach((each) => this.octets(column, each));
        break;
      default:
        this.octets(column, value);
    }
  }

  /** Takes a leaf as it is. */
  raw(leaf: Uint8Array): void {
    if (leaf.length > LEAF_MAX) {
      throw new Malformed("an event is longer than a leaf can be");
    }
    this.buffer.set(leaf);
    this.at = leaf.length;
  }

  /** The leaf's octets; good until the next one is begun. */
  end(): Uint8Array {
    if (this.at > LEAF_MAX) {
      throw new Malformed("an event is longer than a leaf can be");
    }
    return this.buffer.subarray(0, this.at);
  }

  private room(count: number): void {
    if (this.at + count > this.buffer.length) {
      throw new Malformed("an event is longer than a leaf can be");
    }
  }

  private octets(column: Column, value: unknown): void {
    if (!(value instanceof Uint8Array)) {
      throw new Malformed(`${column.name} is not octets`);
    }
    this.unsigned(value.length);
    this.room(value.length + 8);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  private integer(value: number): void {
    this.unsigned(((value << 1) ^ (value >> 31)) >>> 0);
  }

  private long(value: bigint): void {
    if (value >= 0n && value < 0x40000000n) {
      this.unsigned(Number(value) * 2);
      return;
    }
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest > 0xffffffffn) {
      const low = Number(rest & 0xfffffffn); // four groups of seven bits at a time
      this.buffer[this.at++] = (low & 127) | 128;
      this.buffer[this.at++] = ((low >> 7) & 127) | 128;
      this.buffer[this.at++] = ((low >> 14) & 127) | 128;
      this.buffer[this.at++] = ((low >> 21) & 127) | 128;
      rest >>= 28n;
    }
    this.unsigned(Number(rest));
  }

  /** @param value below 2^32 */
  private unsigned(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.buffer[this.at++] = (rest & 127) | 128;
      rest = rest >>> 7;
    }
    this.buffer[this.at++] = rest;
  }
}

/**
 * What a leaf says, by column: for the few rows that the table keeps as octets. Only the one encoding of each value is
 * read.
 *
 * @throws Malformed where it is no leaf, or has a column that this page does not know
 */
export function decode(leaf: Uint8Array): Map<number, Value> {
  let at = 1;
  if (leaf[0] !== VERSION) {
    throw new Malformed("it is not a leaf of version 1");
  }
  const unsigned = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const octet = leaf[at++];
      if (octet === undefined || (octet === 0 && shift > 0n)) {
        break;
      }
      value |= BigInt(octet & 127) << shift;
      if (octet < 128) {
        if (value >= 1n << 64n) {
          break;
        }
        return value;
      }
    }
    throw new Malformed("a number in it is not in its one form");
  };
  const octets = (): Uint8Array => {
    const length = Number(unsigned());
    if (at + length > leaf.length) {
      throw new Malformed("it is cut off");
    }
    at += length;
    return leaf.subarray(at - length, at);
  };
  const number = (): bigint => {
    const zigzag = unsigned();
    return zigzag & 1n ? -((zigzag + 1n) >> 1n) : zigzag >> 1n;
  };
  const values = new Map<number, Value>();
  let last = 0;
  while (at < leaf.length) {
    const id = leaf[at++]!;
    const column = COLUMNS.find((each) => each.id === id);
    if (id <= last || id > ID_MAX || !column) {
      throw new Malformed("it has a column that this page does not know");
    }
    last = id;
    switch (column.type) {
      case "INT": {
        const value = number();
        if (BigInt.asIntN(32, value) !== value) {
          throw new Malformed("a number in it has more than 32 bits");
        }
        values.set(id, Number(value));
        break;
      }
      case "LONG":
        values.set(id, number());
        break;
      case "STRING_LIST": {
        const count = Number(unsigned());
        if (count > leaf.length) {
          throw new Malformed("it is cut off");
        }
        values.set(id, Array.from({ length: count }, octets));
        break;
      }
      default:
        values.set(id, octets());
    }
  }
  return values;
}
