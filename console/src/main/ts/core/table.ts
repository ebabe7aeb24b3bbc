import { decompress } from "fzstd";
import { parquetMetadata, parquetRead } from "hyparquet";
import kindsJson from "../formats/kinds.json";
import sourcesJson from "../formats/sources.json";
import { COLUMNS, type Column, type Value } from "./leaf";
import { Malformed, textOf } from "./octets";

const INDEX_ID = 102;
const RAW_ID = 103;
const CHECKPOINT_ID = 104;
const RUN_ID = 101;
const LEAF_ID_MAX = 63;
const KIND_ID = 1;
const SOURCE_ID = 3;

export const KINDS = new Map(kindsJson.map(({ code, name }) => [name, code]));
export const SOURCES = new Map(sourcesJson.map(({ code, name }) => [name, code]));

/** Something that this page cannot judge, and `blackbox verify` or a newer version can. */
export class Beyond extends Error {}

/** Consecutive rows, by column. A column without values in these rows is not there. */
export interface Rows {
  first: number;
  count: number;
  columns: { column: Column; values: ArrayLike<Value | null | undefined> }[];
  raw: ArrayLike<Uint8Array | null | undefined> | null;
  checkpoints: ArrayLike<Uint8Array | null | undefined> | null;
}

/** The names in a file's footer beyond those that this page knows: `<code>=<name>` with single spaces between. */
function noted(text: string | undefined, known: Map<string, number>): Map<string, number> {
  const all = new Map(known);
  const codes = new Map([...known].map(([name, code]) => [code, name]));
  for (const each of text === undefined || text === "" ? [] : text.split(" ")) {
    const match = /^(\d{1,3})=([a-z][a-z0-9._-]{0,63})$/.exec(each);
    const code = Number(match?.[1]);
    if (!match || (codes.get(code) ?? match[2]) !== match[2] || (all.get(match[2]!) ?? code) !== code) {
      throw new Malformed("its footer gives a kind another meaning");
    }
    all.set(match[2]!, code);
  }
  return all;
}

/**
 * Reads a data file, one row group after the other, and gives the rows as leaves have them: kinds and sources by
 * their codes, text as octets.
 *
 * @throws Malformed if it is not what `schemas/table.md` says
 * @throws Beyond if it has columns or a layout that this page does not know
 */
export async function readTable(octets: Uint8Array, run: string, take: (rows: Rows) => Promise<void>): Promise<void> {
  const file = octets.slice().buffer;
  const metadata = parquetMetadata(file);
  const notes = new Map((metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value]));
  const layout = notes.get("blackbox.layout");
  if (layout !== undefined && layout !== "2") {
    throw new Beyond(`a data file has the layout ${layout}`);
  }
  const kinds = noted(notes.get("blackbox.kinds"), KINDS);
  const sources = noted(notes.get("blackbox.sources"), SOURCES);
  const ids = new Map<string, number>();
  let depth = 0;
  for (const element of metadata.schema.slice(1)) {
    if (depth === 0) {
      if (element.field_id === undefined || ids.has(element.name)) {
        throw new Malformed("its schema is not that of the table");
      }
      ids.set(element.name, element.field_id);
    }
    depth += (element.num_children ?? 0) - (depth > 0 ? 1 : 0);
  }
  const columns = [...ids].flatMap(([name, id]) => {
    const column = COLUMNS.find((each) => each.id === id);
    if (id <= LEAF_ID_MAX && !column) {
      throw new Beyond(`a data file has the column ${name}`);
    }
    return column ? [{ name, column }] : [];
  });
  if (new Set(ids.values()).size !== ids.size) {
    throw new Malformed("its schema has a field twice");
  }
  columns.sort((a, b) => a.column.id - b.column.id);
  const nameOf = (id: number): string | undefined => [...ids].find(([, each]) => each === id)?.[0];

  let at = 0;
  for (const group of metadata.row_groups) {
    const count = Number(group.num_rows);
    const parts = new Map<string, ArrayLike<unknown>>();
    await parquetRead({
      file: { byteLength: file.byteLength, slice: (from, to) => file.slice(from, to) },
      metadata,
      rowStart: at,
      rowEnd: at + count,
      utf8: false,
      compressors: { ZSTD: (input, length) => decompress(input, new Uint8Array(length)) },
      // Text stays octets: a leaf has them as the guest gave them.
      parsers: { stringFromBytes: (bytes: Uint8Array) => bytes as unknown as string },
      onChunk({ columnName, columnData, rowStart, rowEnd }) {
        const before = parts.get(columnName);
        if (!before && rowStart === at && rowEnd === at + count) {
          parts.set(columnName, columnData);
          return;
        }
        const whole = before ? (before as unknown[]) : new Array<unknown>(count);
        for (let i = 0; i < columnData.length; i++) {
          whole[rowStart - at + i] = columnData[i];
        }
        parts.set(columnName, whole);
      },
    });
    const of = (id: number): ArrayLike<unknown> | undefined => {
      const name = nameOf(id);
      const values = name === undefined ? undefined : parts.get(name);
      if (values && values.length !== count) {
        throw new Malformed(`its column ${name} has ${values.length} values for ${count} rows`);
      }
      return values;
    };
    const runs = of(RUN_ID);
    const indexes = of(INDEX_ID);
    if (!runs || !indexes) {
      throw new Malformed("its schema is not that of the table");
    }
    const first = Number(indexes[0]);
    const names = new Map<unknown, string>();
    for (let i = 0; i < count; i++) {
      let name = names.get(runs[i]);
      if (name === undefined) {
        name = textOf(runs[i] as Uint8Array);
        names.clear();
        names.set(runs[i], name);
      }
      if (name !== run || Number(indexes[i]) !== first + i) {
        throw new Malformed(`its row ${at + i} is not event ${first + i} of the run`);
      }
    }
    await take({
      first,
      count,
      columns: columns.flatMap(({ column }) => {
        const values = of(column.id);
        if (!values || isEmpty(values)) {
          return [];
        }
        const codes = column.id === KIND_ID ? kinds : column.id === SOURCE_ID ? sources : null;
        return [{ column, values: (codes ? coded(values, codes) : values) as ArrayLike<Value | null> }];
      }),
      raw: (of(RAW_ID) as Rows["raw"]) ?? null,
      checkpoints: (of(CHECKPOINT_ID) as Rows["checkpoints"]) ?? null,
    });
    at += count;
  }
}

function isEmpty(values: ArrayLike<unknown>): boolean {
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== null && values[i] !== undefined) {
      return false;
    }
  }
  return true;
}

function coded(values: ArrayLike<unknown>, codes: Map<string, number>): (number | null)[] {
  const known = new Map<unknown, number | null>();
  return Array.from(values, (value) => {
    if (value === null || value === undefined) {
      return null;
    }
    let code = known.get(value);
    if (code === undefined) {
      code = codes.get(textOf(value as Uint8Array)) ?? null;
      if (code === null) {
        throw new Malformed("a row has a kind that has no code");
      }
      known.set(value, code);
    }
    return code;
  });
}
