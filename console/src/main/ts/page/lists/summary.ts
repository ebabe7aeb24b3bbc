import type { Value } from "../../core/leaf";
import type { Events } from "../events";
import { keyOf } from "../identity";
import type { Edge, View } from "../messages";
import { List } from "./entry";
import { Files } from "./files";
import { Peers } from "./peers";
import { Processes } from "./processes";

const NAMES = [
  "kind", "at_ns", "source", "pid", "start_ns", "ppid", "parent_start_ns", "comm", "exe", "argv", "cwd", "ret", "exit_code", "signal",
  "path", "path_to", "created", "flags", "bytes_read", "bytes_written", "protocol", "local_ip", "local_port", "remote_ip",
  "remote_port", "host", "answers", "bytes_out", "bytes_in", "what", "actor",
];

/** Lists of a run's processes, files and peers, from its events. */
export class Summary {
  private readonly lists: Record<Exclude<View, "events">, List>;
  readonly edges: Edge[];

  constructor(events: Events) {
    const processes = new Processes();
    const files = new Files();
    const peers = new Peers();
    const texts = new Map<Value, string | null>();
    events.scan(NAMES, (index, get) => {
      // Rows of one dictionary entry have one array, whose text is made once.
      const text = (name: string): string | null => {
        const value = get(name);
        if (!(value instanceof Uint8Array)) {
          return null;
        }
        let made = texts.get(value);
        if (made === undefined) {
          made = keyOf(value);
          texts.set(value, made);
        }
        return made;
      };
      const process = processes.see(index, get);
      files.see(index, get, text, process);
      peers.see(index, get, text, process);
    });
    this.lists = { processes: new List(processes.entries()), files: new List(files.entries()), network: new List(peers.entries()) };
    this.edges = peers.edges();
  }

  of(view: Exclude<View, "events">): List {
    return this.lists[view];
  }
}
