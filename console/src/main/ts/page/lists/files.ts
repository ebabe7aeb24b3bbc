import { KINDS } from "../../core/table";
import { isDenied, isRefused } from "../identity";
import { printable } from "../text";
import { count, type Entry, figure, type Get, Programs, sum } from "./entry";
import { type Process, Processes, programOf } from "./processes";

const EXEC = KINDS.get("process.exec")!;
const [OPEN, SYMLINK] = ["open", "symlink"].map((name) => KINDS.get(`file.${name}`)!);
const FILE_KINDS = new Set([...KINDS].filter(([name]) => name.startsWith("file.")).map(([, code]) => code));
/** O_WRONLY and O_RDWR. */
const WRITING = 3n;
const SHOWN = 4;

/** What a kind of event does to a file. */
const ACTS = new Map(
  Object.entries({
    "file.rename": "renamed", "file.unlink": "removed", "file.rmdir": "removed", "file.mkdir": "made", "file.symlink": "made",
    "file.link": "linked", "file.chmod": "mode set", "file.chown": "owner set", "file.truncate": "cut", "file.mknod": "made",
    "file.mmap": "mapped", "file.utime": "times set", "file.xattr": "attribute set", "file.chattr": "attributes set",
    "file.allocate": "room made", "process.exec": "run",
  }).map(([kind, act]) => [KINDS.get(kind)!, act]),
);

interface File {
  event: number;
  acts: Set<string>;
  programs: Programs;
  read: number;
  written: number;
  failed: number;
  isDenied: boolean;
}

/** A few of them, and how many more there are. */
export function programsText(programs: string[]): string {
  const some = printable(programs.slice(0, SHOWN).join(", "));
  return programs.length > SHOWN ? `${some} and ${programs.length - SHOWN} more` : some;
}

/** What was done to which paths. */
export class Files {
  private readonly known = new Map<string, File>();

  see(index: number, get: Get, text: (name: string) => string | null, process: Process | null): void {
    const kind = get("kind");
    if (kind !== EXEC && !FILE_KINDS.has(kind as number)) {
      return;
    }
    const ret = get("ret");
    const acts: string[] = [];
    const read = count(get("bytes_read"));
    const written = count(get("bytes_written"));
    if (kind === OPEN) {
      const flags = get("flags");
      acts.push(count(get("created")) === 1 ? "made" : typeof flags === "bigint" && (flags & WRITING) !== 0n ? "opened to write" : "opened");
    }
    acts.push(...(read > 0 ? ["read"] : []), ...(written > 0 ? ["written"] : []));
    const act = ACTS.get(kind as number);
    acts.push(...(act ? [act] : []));
    // A symbolic link's target is a text that it holds: nothing was done to what may be there.
    const names = kind === EXEC ? ["exe"] : kind === SYMLINK ? ["path"] : ["path", "path_to"];
    for (const path of names.map(text)) {
      if (path === null) {
        continue;
      }
      // Only a call that failed early has its names as it was given them.
      const file = this.file(isRefused(ret) ? Processes.absolute(process, path) : path, index);
      file.read = sum(file.read, read);
      file.written = sum(file.written, written);
      file.programs.add(programOf(process));
      if (isRefused(ret)) {
        file.failed++;
        file.isDenied ||= isDenied(ret);
      } else {
        acts.forEach((done) => file.acts.add(done));
      }
    }
  }

  private file(path: string, event: number): File {
    let file = this.known.get(path);
    if (!file) {
      file = { event, acts: new Set(), programs: new Programs(), read: 0, written: 0, failed: 0, isDenied: false };
      this.known.set(path, file);
    }
    return file;
  }

  entries(): Entry[] {
    return [...this.known].map(([path, file]) => {
      const all = file.programs.all();
      const acts = [...file.acts].join(", ");
      return {
        cells: [path.startsWith("\0") ? `octets ${path.slice(1)}` : printable(path), acts, figure(file.read), figure(file.written), figure(file.failed), programsText(all)],
        sorts: [path, acts, file.read, file.written, file.failed, all.join(", ")],
        more: all.join("\n"),
        notable: file.isDenied,
        level: null,
        event: file.event,
      };
    });
  }
}
