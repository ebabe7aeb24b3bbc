import { fill, h, replaceHash } from "./dom";
import { runThread } from "./thread";
import { Viewer } from "./viewer";

/** The page that opens a bundle: the one that it carries, or one that it is given. */
class Page {
  private readonly viewer: Viewer;

  constructor(code: string) {
    const program = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.viewer = new Viewer(program, {
      read: () => new URLSearchParams(location.hash.replace(/^#/, "")),
      write: (words) => {
        if (`#${words}` !== (location.hash || "#")) {
          replaceHash(`#${words}`);
        }
      },
    });
    addEventListener("hashchange", () => this.viewer.restore());
    addEventListener("keydown", (event) => this.viewer.key(event));
    addEventListener("resize", () => this.viewer.resize());
    new MutationObserver(() => {
      document.title = `${this.viewer.verdict()} – Blackbox evidence`;
    }).observe(this.viewer.head, { childList: true, subtree: true, characterData: true });
  }

  start(carried: string): void {
    const choose = h("p", { class: "choose" });
    fill(document.body, h("header", {}, h("h1", {}, "Blackbox evidence"), choose, this.viewer.head), h("main", {}, this.viewer.main));
    if (carried.trim() !== "") {
      this.viewer.show(carried);
      return;
    }
    this.viewer.say("NONE", "No bundle yet", "Choose the ZIP that `blackbox export --format bundle` wrote, or drop it here.");
    const file = h("input", {
      type: "file",
      id: "file",
      accept: ".zip",
      change: () => void this.load(file.files?.[0]),
    });
    fill(choose, h("label", { for: "file" }, "Bundle "), file);
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      void this.load(event.dataTransfer?.files[0]);
    });
  }

  private async load(file: File | undefined): Promise<void> {
    if (file) {
      try {
        this.viewer.show(await file.arrayBuffer());
      } catch {
        this.viewer.fail(`${file.name} cannot be read`);
      }
    }
  }
}

if (typeof document === "undefined") {
  runThread();
} else {
  const carried = document.getElementById("bundle")?.textContent ?? "";
  new Page(document.currentScript!.textContent!).start(carried); // of what was in the page, nothing stays
}
