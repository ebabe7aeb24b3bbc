import { KINDS } from "../../core/table";
import { isDenied, isRefused, keyOf, processOf } from "../identity";
import { printable, quoted, shown, timeText } from "../text";
import { count, type Entry, figure, type Get, sum } from "./entry";

const [EXEC, FORK, EXIT, RUNNING] = ["exec", "fork", "exit", "running"].map((name) => KINDS.get(`process.${name}`)!);
const SYN = KINDS.get("net.syn")!;
const SUPERVISOR = "supervisor";
const AGENT = "agent";
/** A path as the tracer resolved it: absolute, or of a file system that the first processes do not see. */
const RESOLVED = /^\/|^[^/[]+\[\d+:\d+\]/;

export interface Process {
  pid: number;
  /** When it began; null if no event says so. */
  start: bigint | null;
  parent: Process | null;
  children: Process[];
  /** Its last program's arguments, as it was given them; null if it has not executed one. */
  command: string | null;
  /** That program's path; null if it is not known. */
  exe: string | null;
  cwd: string | null;
  comm: string;
  event: number;
  from: bigint | null;
  to: bigint | null;
  ended: string;
  actor: string | null;
  isCopy: boolean;
  events: number;
  written: number;
  failed: number;
  isDenied: boolean;
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What people call what a process runs: its program, or the task's name where that is not known. */
export function programOf(process: Process | null): string {
  return process === null ? "" : process.exe === null ? process.comm : lastName(process.exe);
}

/** Who ran what, and whose child each was. */
export class Processes {
  private readonly known = new Map<string, Process>();
  /** By its number alone, of those that began last. */
  private readonly newest = new Map<number, Process>();

  /** The process of an event, with what the event says of it; null if it is of none. */
  see(index: number, get: Get): Process | null {
    const pid = get("pid");
    if (typeof pid !== "number") {
      return null;
    }
    const start = get("start_ns");
    const newest = this.newest.get(pid);
    // To name each by a text takes far longer than to look whether it is the one that began last.
    const process = newest && newest.start === (start ?? null) ? newest : this.find(index, pid, get);
    const kind = get("kind");
    const ret = get("ret");
    const time = get("at_ns");
    if (typeof time === "bigint") {
      process.from = process.from === null || time < process.from ? time : process.from;
      process.to = process.to === null || time > process.to ? time : process.to;
    }
    process.events++;
    process.failed += isRefused(ret) ? 1 : 0;
    process.isDenied ||= isDenied(ret);
    process.written = sum(process.written, count(get("bytes_written")));
    process.comm ||= keyOf(get("comm")) ?? "";
    // The agent's first process was made by the supervisor, and acts before it is in the agent's control group.
    const actor = keyOf(get("actor"));
    process.actor = actor === AGENT ? actor : (process.actor ?? actor);
    if (kind === EXEC && !isRefused(ret)) {
      const argv = get("argv");
      process.command = Array.isArray(argv) ? argv.map((each) => quoted(shown(each))).join(" ") : "";
      process.exe = keyOf(get("exe"));
      process.cwd = keyOf(get("cwd"));
    } else if (kind === RUNNING || kind === SYN) {
      process.exe = keyOf(get("exe")) ?? process.exe;
    } else if (kind === EXIT) {
      const signal = get("signal");
      const code = get("exit_code");
      process.ended = typeof signal === "number" && signal !== 0 ? `signal ${signal}` : typeof code === "number" ? `exit ${code}` : "";
    }
    return process;
  }

  private find(index: number, pid: number, get: Get): Process {
    const key = processOf(get) ?? `${pid}-`;
    return this.known.get(key) ?? this.begun(index, pid, key, get);
  }

  /** A parent was there before: so no two processes are each other's, whatever a guest says. */
  private begun(index: number, pid: number, key: string, get: Get): Process {
    const ppid = get("ppid");
    const parentStart = get("parent_start_ns");
    const parent = typeof ppid !== "number" ? undefined : typeof parentStart === "bigint" ? this.known.get(`${ppid}-${parentStart}`) : this.newest.get(ppid);
    const isCopy = get("kind") === FORK;
    const start = get("start_ns");
    const process: Process = {
      pid,
      start: typeof start === "bigint" ? start : null,
      parent: parent ?? null,
      children: [],
      command: null,
      exe: isCopy ? (parent?.exe ?? null) : null,
      cwd: isCopy ? (parent?.cwd ?? null) : null,
      comm: "",
      event: index,
      from: null,
      to: null,
      ended: "",
      actor: null,
      isCopy,
      events: 0,
      written: 0,
      failed: 0,
      isDenied: false,
    };
    parent?.children.push(process);
    this.known.set(key, process);
    this.newest.set(pid, process);
    return process;
  }

  /** A path as a call named it, from the directory in which its program began, if that is known. */
  static absolute(process: Process | null, path: string): string {
    return process?.cwd == null || RESOLVED.test(path) || path.startsWith("\0") ? path : `${process.cwd.replace(/\/$/, "")}/${path.replace(/^\.\//, "")}`;
  }

  /** All, each below its parent: first those that the agent's began with, then those of whom nobody knows whose they are. */
  entries(): Entry[] {
    const isSupervisors = (each: Process): boolean => each.actor === SUPERVISOR;
    const isRoot = (each: Process): boolean => each.parent === null || (isSupervisors(each.parent) && !isSupervisors(each));
    const rank = ({ actor }: Process): number => (actor === AGENT ? 0 : actor === SUPERVISOR ? 2 : 1);
    const roots = [...this.known.values()].filter(isRoot).sort((a, b) => rank(a) - rank(b) || a.event - b.event);
    const entries: Entry[] = [];
    const open = roots.reverse().map((process) => ({ process, level: 1 }));
    while (open.length > 0) {
      const { process, level } = open.pop()!;
      entries.push(Processes.entry(process, level));
      for (const child of process.children.filter((each) => !isRoot(each)).reverse()) {
        open.push({ process: child, level: level + 1 });
      }
    }
    return entries;
  }

  private static entry(process: Process, level: number): Entry {
    const command = process.command || quoted(printable(programOf(process)) || "not known") + (process.isCopy && process.command === null ? " (a copy of its parent)" : "");
    const seen = process.from !== null && process.to !== null ? `${(Number(process.to - process.from) / 1e9).toFixed(3)} s` : "";
    return {
      cells: [
        command,
        process.exe === null ? "" : printable(process.exe),
        String(process.pid),
        process.actor === null ? "not known" : printable(process.actor),
        timeText(process.from).slice(11, 23),
        seen,
        process.ended,
        figure(process.events),
        figure(process.written),
        figure(process.failed),
      ],
      sorts: [],
      more: "",
      notable: process.isDenied || process.ended.startsWith("signal"),
      level,
      event: process.event,
    };
  }
}
