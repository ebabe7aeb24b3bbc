import { fill, h, replaceHash } from "../page/dom";
import { runThread } from "../page/thread";
import { Access } from "./access";
import { Api, Refused } from "./api";
import { Login } from "./login";
import { RunView } from "./run";
import { Runs } from "./runs";
import { Sql } from "./sql";

const ACCESS = "/access";
const SQL = "/sql";
const ID = /^[0-9a-z]{26}$/;
const RUN = /^\/run\/([0-9a-z]{26})$/;

/** The console: which view the address names, and the token with which the service is asked. */
class Console {
  private readonly api = new Api((why) => void this.enter(why));
  private readonly program: string;
  private readonly main = h("main", { id: "main" });
  private readonly ways = h("nav", { "aria-label": "Views", hidden: true }, h("a", { href: "#/" }, "Runs"), h("a", { href: `#${SQL}` }, "SQL"), h("a", { href: `#${ACCESS}` }, "Who asked what"));
  private readonly told = h("span", { role: "alert", class: "told" });
  private readonly leave = h("button", { type: "button", hidden: true, click: () => void this.forget() }, "Forget the token");
  private view: RunView | Runs | Access | Sql | null = null;
  private path = "";

  constructor(code: string) {
    this.program = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    fill(document.body, h("header", { class: "top" }, h("h1", {}, h("a", { href: "#/" }, "Blackbox")), this.ways, this.told, this.leave), this.main);
    addEventListener("hashchange", () => void this.route());
    addEventListener("keydown", (event) => {
      if (this.view instanceof RunView) {
        this.view.key(event);
      } else if (event.key === "/" && !(event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement)) {
        event.preventDefault();
        this.view?.focus();
      }
    });
    addEventListener("resize", () => {
      if (this.view instanceof RunView) {
        this.view.resize();
      }
    });
    void Login.back()
      .then((token) => {
        if (token !== null) {
          this.api.remember(token, true);
        }
        return this.enter(null);
      })
      .catch((problem: unknown) => this.enter(this.api.token() === null ? (problem as Error).message : null));
  }

  /** Asks for a token unless this tab has one that is good. */
  private async enter(problem: string | null): Promise<void> {
    if (problem === null && this.api.token() !== null) {
      try {
        await this.api.json("/openapi.json");
        this.leave.hidden = this.ways.hidden = false;
        return this.route();
      } catch (refused) {
        if (refused instanceof Refused && refused.status === 403) {
          this.leave.hidden = this.ways.hidden = false; // a token for some runs alone
          return this.route();
        }
        if (refused instanceof Refused && refused.status === 401) {
          return; // the form is here already, and says why
        }
        problem = (refused as Error).message;
      }
    } else if (problem !== null) {
      this.api.remember(null);
    }
    this.leave.hidden = this.ways.hidden = true;
    this.view?.end();
    this.view = null;
    this.path = "";
    document.title = "Blackbox";
    const login = h("p", {});
    void Login.find()
      .then((found) => found && fill(login, h("button", { type: "button", click: () => found.begin() }, `Log in with ${found.name()}`)))
      .catch((failed: unknown) => (login.textContent = `Nobody can log in now: ${(failed as Error).message}`));
    const token = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
    fill(
      this.main,
      h(
        "form",
        {
          class: "token",
          submit: (event) => {
            event.preventDefault();
            this.api.remember(token.value.trim());
            void this.enter(null);
          },
        },
        h("p", {}, "This service answers to those who have a token: `blackbox token create NAME --role auditor` makes one. It stays in this tab until you have it forgotten or close the tab."),
        h("p", { class: "faults", role: "alert" }, problem ?? ""),
        login,
        h("label", { for: "token" }, "Token"),
        token,
        h("button", {}, "Enter"),
      ),
    );
    token.focus();
  }

  /** A login is ended; a token that was made on the service's host stays what it is. */
  private async forget(): Promise<void> {
    this.told.textContent = "";
    if (this.api.isByLogin()) {
      try {
        await this.api.ask("/logout", { method: "POST", body: {} });
      } catch (problem) {
        if (this.api.token() !== null) {
          this.told.textContent = `The login was not ended: ${(problem as Error).message}`;
          return;
        }
      }
    }
    this.api.remember(null);
    await this.enter("");
  }

  /** The address is `#/`, `#/run/ID`, `#/sql` or `#/access`, and what its view keeps behind a question mark. */
  private static parts(): { path: string; words: URLSearchParams } {
    const [path = "", words = ""] = location.hash.replace(/^#/, "").split("?");
    return { path: path || "/", words: new URLSearchParams(words) };
  }

  private static write(words: URLSearchParams): void {
    const { path } = Console.parts();
    const hash = `#${path}${words.size > 0 ? `?${words}` : ""}`;
    if (hash !== location.hash) {
      replaceHash(hash);
    }
  }

  private async route(): Promise<void> {
    if (this.api.token() === null) {
      return this.enter(null);
    }
    const { path, words } = Console.parts();
    const kept =
      (name: string) =>
      (text: string): void => {
        const now = Console.parts().words;
        now.delete(name);
        if (text) {
          now.set(name, text);
        }
        Console.write(now);
      };
    if (path === this.path && this.view instanceof RunView) {
      this.view.restore();
      return;
    }
    this.view?.end();
    this.path = path;
    const run = RUN.exec(path)?.[1];
    if (run) {
      document.title = `Run ${run} – Blackbox`;
      this.view = new RunView(this.api, run, this.program, { read: () => Console.parts().words, write: Console.write });
    } else if (path === ACCESS) {
      document.title = "Who asked what – Blackbox";
      const about = words.get("run");
      this.view = new Access(this.api, about !== null && ID.test(about) ? about : null, words.get("search") ?? "", kept("search"));
    } else if (path === SQL) {
      document.title = "SQL – Blackbox";
      this.view = new Sql(this.api, words.get("select") ?? "", kept("select"));
    } else {
      document.title = "Runs – Blackbox";
      this.view = new Runs(this.api, words.get("search") ?? "", kept("search"));
    }
    fill(this.main, this.view.element);
    if (this.view instanceof RunView) {
      this.view.focus();
    }
  }
}

if (typeof document === "undefined") {
  runThread();
} else {
  new Console(document.currentScript!.textContent!);
}
