import type { Value } from "../core/leaf";
import { hex, textOf } from "../core/octets";
import type { Only } from "./messages";
import { isUtf8, printable } from "./text";

type Get<Name extends string> = (name: Name) => Value | null | undefined;

/** Octets as a key that no others have: as text where they are text. */
export function keyOf(value: Value | null | undefined): string | null {
  return value instanceof Uint8Array ? (isUtf8(value) && value[0] !== 0 ? textOf(value) : `\0${hex(value)}`) : null;
}

/** The key of a peer; null if the event has none. */
export function peerOf(get: Get<"protocol" | "remote_ip" | "remote_port">): string | null {
  const ip = get("remote_ip");
  const protocol = get("protocol");
  const address = keyOf(ip);
  const name = keyOf(protocol);
  if (address === null || name === null) {
    return null;
  }
  const port = get("remote_port");
  return `${name} ${address.includes(":") ? `[${address}]` : address}${typeof port === "number" ? `:${port}` : ""}`;
}

/** The key of an event's process; null if the event is of none. */
export function processOf(get: Get<"pid" | "start_ns">): string | null {
  const pid = get("pid");
  const start = get("start_ns");
  return typeof pid === "number" && typeof start === "bigint" ? `${pid}-${start}` : null;
}

/** EINPROGRESS: a connection that is being made. */
const BEGUN = -115n;
/** EPERM and EACCES: what is not there is looked for all day, what is forbidden is not. */
const DENIED = [-1n, -13n];

/** Whether a call failed. */
export function isRefused(ret: Value | null | undefined): boolean {
  return typeof ret === "bigint" && ret < 0n && ret !== BEGUN;
}

/** Whether a call was forbidden. */
export function isDenied(ret: Value | null | undefined): boolean {
  return DENIED.includes(ret as bigint);
}

const PROCESS = /^(-?\d{1,19})-(-?\d{1,20})$/;

/** What people call what an event is about. */
export function nameOf({ of, key }: Only): string {
  const process = PROCESS.exec(key);
  return of === "process"
    ? process
      ? `process ${process[1]} (begun ${(Number(process[2]) / 1e9).toFixed(6)} s after its machine)`
      : "a process that cannot be"
    : of === "file"
      ? key.startsWith("\0")
        ? `octets ${key.slice(1)}`
        : printable(key)
      : `peer ${printable(key)}`;
}

/** What an event is about. */
export function subjectsOf(get: Get<string>): Only[] {
  const process = processOf(get);
  const peer = peerOf(get);
  const files = ["path", "path_to"].map((name) => keyOf(get(name))).filter((key) => key !== null);
  return [
    ...(process === null ? [] : [{ of: "process" as const, key: process }]),
    ...files.map((key) => ({ of: "file" as const, key })),
    ...(peer === null ? [] : [{ of: "peer" as const, key: peer }]),
  ];
}

/** Whether an event is about it. A program's start is about its file, too. */
export function isAbout(get: Get<string>, { of, key }: Only): boolean {
  switch (of) {
    case "process":
      return processOf(get) === key;
    case "file":
      return ["path", "path_to", "exe"].some((name) => keyOf(get(name)) === key);
    case "peer":
      return peerOf(get) === key;
  }
}
