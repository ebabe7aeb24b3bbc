import { KINDS, SOURCES } from "../../core/table";
import { isRefused, keyOf, peerOf } from "../identity";
import type { Edge } from "../messages";
import { printable } from "../text";
import { count, type Entry, figure, type Get, Programs, sum } from "./entry";
import { programsText } from "./files";
import { type Process, programOf } from "./processes";

const [FLOW, CONNECT, SEND] = ["flow", "connect", "send"].map((name) => KINDS.get(`net.${name}`)!);
const QUERY = KINDS.get("dns.query")!;
const DECISION = KINDS.get("egress.decision")!;
const CALLS = new Set(["llm.call", "mcp.call"].map((name) => KINDS.get(name)!));
const HOST = SOURCES.get("host")!;
const PASSED = ["allow", "would-deny"];
const NOBODY = "not known";

interface Octets {
  out: number;
  in: number;
}

/** What the guest and the host counted of one connection, and whose the guest says it was. */
interface Flow {
  guest: Octets | null;
  host: Octets | null;
  program: string;
}

interface Peer {
  event: number;
  ip: string;
  host: string;
  programs: Programs;
  flows: Map<string, Flow>;
  attempted: boolean;
  failed: boolean;
  decisions: Map<string, number>;
  calls: number;
}

function isLoopback(ip: string): boolean {
  return ip.startsWith("127.") || ip === "::1" || ip.startsWith("::ffff:127.");
}

/** Who was talked to, and how much was said. The host's counts are taken where there are any. */
export class Peers {
  private readonly known = new Map<string, Peer>();
  private readonly named = new Map<string, string>();

  see(index: number, get: Get, text: (name: string) => string | null, process: Process | null): void {
    const kind = get("kind");
    if (kind === QUERY) {
      const answers = get("answers");
      const name = text("host");
      for (const answer of Array.isArray(answers) && name !== null ? answers : []) {
        this.named.set(keyOf(answer)!, name!);
      }
    }
    const ip = text("remote_ip");
    const key = ip === null || isLoopback(ip) ? null : peerOf(get);
    if (ip === null || key === null) {
      return;
    }
    const peer = this.peer(key, ip, index);
    if (process) {
      peer.programs.add(programOf(process));
    }
    if (kind === FLOW) {
      // Of a question about a name, or a decision about one, the name is not the peer's.
      peer.host = text("host") || peer.host;
      const local = `${text("local_ip") ?? ""} ${count(get("local_port"))}`;
      const flow = peer.flows.get(local) ?? { guest: null, host: null, program: "" };
      const side = get("source") === HOST ? "host" : "guest";
      flow[side] = { out: sum(flow[side]?.out ?? 0, count(get("bytes_out"))), in: sum(flow[side]?.in ?? 0, count(get("bytes_in"))) };
      flow.program ||= programOf(process);
      peer.flows.set(local, flow);
    } else if (kind === CONNECT || kind === SEND) {
      const failed = isRefused(get("ret"));
      peer.attempted ||= !failed;
      peer.failed ||= failed;
    } else if (kind === DECISION) {
      const what = text("what") ?? "";
      peer.decisions.set(what, (peer.decisions.get(what) ?? 0) + 1);
    } else if (CALLS.has(kind as number)) {
      peer.calls++;
    }
  }

  private peer(key: string, ip: string, event: number): Peer {
    let peer = this.known.get(key);
    if (!peer) {
      peer = { event, ip, host: "", programs: new Programs(), flows: new Map(), attempted: false, failed: false, decisions: new Map(), calls: 0 };
      this.known.set(key, peer);
    }
    return peer;
  }

  /** Not the other end of a socket that only waits, which is nobody. */
  private contacts(): [string, Peer][] {
    return [...this.known].filter(([, peer]) => peer.flows.size > 0 || peer.attempted || peer.failed || peer.decisions.size > 0);
  }

  private hostOf(peer: Peer): string {
    return peer.host || this.named.get(peer.ip) || "";
  }

  /** Whether nothing got through, as far as was seen. */
  private static isRefused(peer: Peer): boolean {
    return peer.decisions.size > 0 ? !PASSED.some((what) => peer.decisions.has(what)) : peer.failed && !peer.attempted && peer.flows.size === 0;
  }

  entries(): Entry[] {
    return this.contacts().map(([key, peer]) => {
      const octets = { out: 0, in: 0 };
      for (const { guest, host } of peer.flows.values()) {
        octets.out = sum(octets.out, (host ?? guest)!.out);
        octets.in = sum(octets.in, (host ?? guest)!.in);
      }
      const all = peer.programs.all();
      const name = this.hostOf(peer);
      const flows = Math.max(peer.flows.size, peer.attempted || peer.failed ? 1 : 0);
      const decisions = [...peer.decisions].map(([what, times]) => `${printable(what)} × ${times}`).join(", ");
      return {
        cells: [printable(key), printable(name), programsText(all), figure(flows), figure(octets.out), figure(octets.in), decisions, figure(peer.calls)],
        sorts: [key, name, all.join(", "), flows, octets.out, octets.in, decisions, peer.calls],
        more: all.join("\n"),
        notable: ["deny", "budget"].some((what) => peer.decisions.has(what)) || Peers.isRefused(peer),
        level: null,
        event: peer.event,
      };
    });
  }

  /** What each program sent to and got from each peer, most first. A flow that only the host saw is nobody's. */
  edges(): Edge[] {
    const edges: Edge[] = [];
    for (const [key, peer] of this.contacts()) {
      const name = this.hostOf(peer);
      const of = new Map<string, Edge>();
      const edge = (program: string): Edge => {
        const known = of.get(program);
        const made = known ?? {
          program: printable(program) || NOBODY,
          peer: printable(key),
          label: name === "" ? printable(key) : `${printable(name)} (${printable(key)})`,
          bytes: 0,
          flows: 0,
          refused: Peers.isRefused(peer),
        };
        of.set(program, made);
        return made;
      };
      for (const { guest, host, program } of peer.flows.values()) {
        const made = edge(program);
        made.bytes = sum(made.bytes, sum((host ?? guest)!.out, (host ?? guest)!.in));
        made.flows++;
      }
      peer.programs.all().forEach(edge);
      edges.push(...of.values());
    }
    return edges.sort((a, b) => b.bytes - a.bytes || b.flows - a.flows);
  }
}
