import type { Progress, Report } from "../core/verify";
import type { Lane, Span } from "./timeline";

/** A row of the table of events, as text. */
export interface Line {
  index: number;
  time: string;
  kind: string;
  process: string;
  what: string;
  /** Whether something was refused or lost. */
  notable: boolean;
}

/** One event whole. */
export interface Details {
  index: number;
  fields: { name: string; value: string }[];
  leaf: string;
  leafHash: string;
  /** Nanoseconds after the run's first event; null if it has no time. */
  time: number | null;
  /** Why there is something to say against the columns; null if there is not. */
  remark: string | null;
}

/** What the run was, from its first and last event. */
export interface Facts {
  began: string | null;
  ended: string | null;
  opened: Record<string, unknown>;
  closed: Record<string, unknown>;
  kinds: { kind: string; events: number }[];
  /** The first event's time, in ns since 1970, and the last one's after it; -1 if there are no times. */
  beganNs: bigint;
  lengthNs: number;
}

export interface Filter {
  kind: string;
  text: string;
}

/** What the page asks of the thread that has the events. */
export type Question =
  | { ask: "verify"; bundle: string | ArrayBuffer; keys: string[]; run: string | null }
  | { ask: "filter"; filter: Filter }
  | { ask: "lines"; from: number; to: number }
  | { ask: "place"; index: number }
  | { ask: "timeline"; span: Span; parts: number }
  | { ask: "at"; time: number }
  | { ask: "event"; index: number };

/** What that thread says. */
export type Answer =
  | { say: "progress"; progress: Progress }
  | { say: "report"; report: Report; facts: Facts; ms: number }
  | { say: "failed"; what: string }
  | { say: "filtered"; filter: Filter; count: number; done: boolean }
  | { say: "lines"; from: number; lines: Line[] }
  | { say: "timeline"; span: Span; lanes: Lane[] }
  | { say: "at"; index: number }
  | { say: "place"; index: number; place: number }
  | { say: "event"; details: Details | null };
