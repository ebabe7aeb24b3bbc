import { decompress } from "fzstd";
import { type FileMetaData, parquetMetadata, parquetRead } from "hyparquet";
import columnsJson from "../formats/columns.json";
import kindsJson from "../formats/kinds.json";
import sourcesJson from "../formats/sources.json";
import { Beyond } from "./beyond";
import { COLUMNS, type Column, idOf, type Value } from "./leaf";
import { isSame, Malformed, textOf, utf8 } from "./octets";

const RUN_ID = idOf("run");
const INDEX_ID = idOf("index");
const RAW_ID = idOf("raw");
const CHECKPOINT_ID = idOf("checkpoint");
const KIND_ID = idOf("kind");
const SOURCE_ID = idOf("source");
const LEAF_ID_MAX = 63;
const ELEMENT_ID = 200;

export const KINDS = new Map(kindsJson.map(({ code, name }) => [name, code]));
export const SOURCES = new Map(sourcesJson.map(({ code, name }) => [name, code]));

/** Consecutive rows, by column. A column without values in these rows is not there. */
export interface Rows {
  first: number;
  count: number;
  /** The names of the columns that the file has, by field id, and the codes of its kinds and sources by name. */
  ids: ReadonlyMap<number, string>;
  kinds: ReadonlyMap<string, number>;
  sources: ReadonlyMap<string, number>;
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
  const there = columnsOf(metadata);
  const columns = COLUMNS.filter(({ id }) => there.has(id));

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
      const name = there.get(id);
      if (name === undefined) {
        return undefined;
      }
      const values = parts.get(name);
      if (values?.length !== count) {
        throw new Malformed(`its column ${name} has ${values?.length ?? 0} values for ${count} rows`);
      }
      return values;
    };
    const runs = of(RUN_ID);
    const indexes = of(INDEX_ID);
    if (!runs || !indexes) {
      throw new Malformed("its schema is not that of the table");
    }
    const first = Number(indexes[0]);
    const wanted = utf8(run);
    for (let i = 0; i < count; i++) {
      const named = runs[i];
      // Rows of one dictionary entry have one array: it is compared once.
      const ofRun = (i > 0 && named === runs[i - 1]) || (named instanceof Uint8Array && isSame(named, wanted));
      if (!ofRun || Number(indexes[i]) !== first + i) {
        throw new Malformed(`its row ${at + i} is not event ${first + i} of the run`);
      }
    }
    await take({
      first,
      count,
      ids: there,
      kinds,
      sources,
      columns: columns.flatMap((column) => {
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

type Element = FileMetaData["schema"][number];

/** The elements that a column has in a schema as ingest writes it: what is required may be called optional. */
function elementsOf(column: (typeof columnsJson)[number], first: Element, last: Element): object[] {
  const text = { converted_type: "UTF8", logical_type: { type: "STRING" } };
  const rep = (element: Element, required: boolean): string =>
    required && element.repetition_type === "REQUIRED" ? "REQUIRED" : "OPTIONAL";
  const of = { name: column.name, field_id: column.fieldId, repetition_type: rep(first, column.required) };
  switch (column.type) {
    case "int":
      return [{ ...of, type: "INT32" }];
    case "long":
      return [{ ...of, type: "INT64" }];
    case "binary":
      return [{ ...of, type: "BYTE_ARRAY" }];
    case "string":
      return [{ ...of, type: "BYTE_ARRAY", ...text }];
    default:
      return [
        { ...of, num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        {
          name: "element",
          field_id: ELEMENT_ID + column.fieldId,
          repetition_type: rep(last, true),
          type: "BYTE_ARRAY",
          ...text,
        },
      ];
  }
}

function same(a: object, b: object): boolean {
  const sorted = (value: object): string =>
    JSON.stringify(
      Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .sort(([x], [y]) => (x < y ? -1 : 1)),
    );
  return sorted(a) === sorted(b);
}

/**
 * The names of the columns that a file has, by field id. Its schema is the table's and nothing else, and each chunk has
 * the type and the path of its column: a reader that believed other types would show what was not signed.
 */
function columnsOf(metadata: FileMetaData): Map<number, string> {
  const wrong = (name: string): Malformed => new Malformed(`its schema is not that of the table, at ${name}`);
  const [root, ...elements] = metadata.schema;
  const there = new Map<number, string>();
  const leaves: { path: string; type: string | undefined }[] = [];
  for (let at = 0; at < elements.length; ) {
    const first = elements[at]!;
    const column = columnsJson.find(({ name }) => name === first.name);
    if (!column) {
      const id = first.field_id ?? 0;
      throw id > 0 && id <= LEAF_ID_MAX ? new Beyond(`a data file has the column ${first.name}`) : wrong(first.name);
    }
    const isList = column.type === "list<string>";
    const expected = elementsOf(column, first, elements[at + 2] ?? first);
    expected.forEach((each, i) => {
      if (!elements[at + i] || !same(each, elements[at + i]!)) {
        throw wrong(first.name);
      }
    });
    if (there.has(column.fieldId)) {
      throw wrong(first.name);
    }
    there.set(column.fieldId, column.name);
    at += expected.length;
    leaves.push({ path: isList ? `${column.name},list,element` : column.name, type: elements[at - 1]!.type });
  }
  if (!root || root.name !== "event" || root.num_children !== there.size || !there.has(RUN_ID) || !there.has(INDEX_ID)) {
    throw wrong("its root");
  }
  for (const group of metadata.row_groups) {
    const chunks = group.columns.map(({ meta_data: chunk }) => `${chunk?.path_in_schema.join()} ${chunk?.type}`);
    if (chunks.join("\n") !== leaves.map(({ path, type }) => `${path} ${type}`).join("\n")) {
      throw new Malformed("a chunk in it is not of its column");
    }
  }
  return there;
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
