import type { Value } from "../../core/leaf";
import type { Filter, Row } from "../messages";

/** What a row is made of. */
export interface Entry {
  cells: string[];
  /** What to order by, of each column; none of a tree. */
  sorts: (number | string)[];
  /** What is looked through for a text, besides the cells. */
  more: string;
  notable: boolean;
  level: number | null;
  event: number;
}

export type Get = (name: string) => Value | null | undefined;

/** More than this cannot be added up exactly here, and is not said to be. */
const SUM_MAX = Number.MAX_SAFE_INTEGER;

/** What a guest counted: what is less than nothing counts for nothing. */
export function count(value: Value | null | undefined): number {
  return typeof value === "bigint" || typeof value === "number" ? Math.min(SUM_MAX, Math.max(0, Number(value))) : 0;
}

export function sum(a: number, b: number): number {
  return Math.min(SUM_MAX, a + b);
}

/** A number for people; nothing for none. */
export function figure(number: number): string {
  return number === 0 ? "" : number >= SUM_MAX ? `at least ${SUM_MAX.toLocaleString("en")}` : number.toLocaleString("en");
}

/** How often each program did something. */
export class Programs {
  private readonly times = new Map<string, number>();

  add(program: string): void {
    if (program !== "") {
      this.times.set(program, (this.times.get(program) ?? 0) + 1);
    }
  }

  /** All of them, those that did it most often first. */
  all(): string[] {
    return [...this.times].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([program]) => program);
  }
}

/** A list as it is filtered and sorted. */
export class List {
  private found: Entry[];
  private readonly texts: string[];

  constructor(private readonly all: Entry[]) {
    this.found = all;
    this.texts = all.map(({ cells, more }) => `${cells.join("\n")}\n${more}`.toLowerCase());
  }

  /** @param sort the number of a column, with a minus for the largest first; empty for the list's own order */
  filter({ text }: Filter, sort: string): number {
    const wanted = text.trim().toLowerCase();
    this.found = wanted === "" ? this.all : this.all.filter((_, at) => this.texts[at]!.includes(wanted));
    const column = Math.abs(Number.parseInt(sort, 10));
    if (this.all[0]?.sorts[column] !== undefined) {
      const sign = sort.startsWith("-") ? -1 : 1;
      this.found = [...this.found].sort((a, b) => {
        const [x, y] = [a.sorts[column]!, b.sorts[column]!];
        return x < y ? -sign : x > y ? sign : a.event - b.event;
      });
    }
    return this.found.length;
  }

  row(place: number): Row {
    const { cells, notable, level, event } = this.found[place]!;
    return { cells: cells.map((cell) => cell.slice(0, 500)), notable, level, event };
  }

  get count(): number {
    return this.found.length;
  }
}
