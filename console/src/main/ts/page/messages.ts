import type { Progress, Report } from "../core/verify";
import type { Lane, Span } from "./timeline";

/** What of a run can be listed. */
export type View = "events" | "processes" | "files" | "network";

/** A row of a list, as text. */
export interface Row {
  cells: string[];
  /** Whether something was refused or lost. */
  notable: boolean;
  /** How deep in a tree, from 1; null in a list. */
  level: number | null;
  /** The event that it is, or with which what it is about began. */
  event: number;
}

/** Events of one process (`pid-start`), of one file (its path), or with one peer (`protocol address:port`). */
export interface Only {
  of: "process" | "file" | "peer";
  key: string;
}

/** What a program sent to and got from a peer. */
export interface Edge {
  program: string;
  peer: string;
  /** The peer with its name, if it has one. */
  label: string;
  bytes: number;
  flows: number;
  /** Whether nothing that anybody sent to that peer got through. */
  refused: boolean;
}

/** One event whole. */
export interface Details {
  index: number;
  fields: { name: string; value: string }[];
  /** Of what else there may be more events. */
  subjects: Only[];
  leaf: string;
  leafHash: string;
  /** Nanoseconds after the run's first event; null if it has no time. */
  time: number | null;
  /** Why there is something to say against the columns; null if there is not. */
  remark: string | null;
}

/** The way from an event's leaf to the root over `size` events, which a checkpoint signs. */
export interface Proof {
  index: number;
  size: number;
  steps: { side: "left" | "right"; hash: string }[];
  root: string;
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
  only: Only | null;
}

/** What the page asks of the thread that has the events. */
export type Question =
  | { ask: "verify"; bundle: string | ArrayBuffer; keys: string[]; run: string | null }
  | { ask: "filter"; view: View; filter: Filter; sort: string }
  | { ask: "rows"; view: View; from: number; to: number }
  | { ask: "place"; index: number }
  | { ask: "edges" }
  | { ask: "timeline"; span: Span; parts: number }
  | { ask: "at"; time: number }
  | { ask: "event"; index: number }
  | { ask: "proof"; index: number };

/** What that thread says. */
export type Answer =
  | { say: "progress"; progress: Progress }
  | { say: "report"; report: Report; facts: Facts; ms: number }
  | { say: "failed"; what: string }
  | { say: "filtered"; view: View; filter: Filter; sort: string; count: number; done: boolean }
  | { say: "rows"; view: View; from: number; rows: Row[] }
  | { say: "edges"; edges: Edge[]; of: number }
  | { say: "timeline"; span: Span; lanes: Lane[] }
  | { say: "at"; index: number }
  | { say: "place"; index: number; place: number; isThere: boolean }
  | { say: "event"; details: Details | null }
  | { say: "proof"; proof: Proof | null };
