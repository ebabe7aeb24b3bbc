const TOKEN = "blackbox.token";
/** There if the token is a login's. */
const LOGIN = "blackbox.by-login";
const MALFORMED = -1;
/** How often a stream may end before all that there is has come. */
const VAIN_MAX = 5;
/** After these, asking again gives nothing else. */
export const FINAL = [MALFORMED, 400, 401, 403, 404];

/** An answer that is none; `status` 0 where the service could not be asked. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface Run {
  run: string;
  name: string | null;
  startedAt: string | null;
  endedAt: string | null;
  state: string;
  tier: string | null;
  events: number;
  lost: number;
  lossKnown: boolean;
  exitCode: number | null;
  signal: number | null;
  leftOut?: { file: string; why: string }[];
  fault?: string | null;
  imported?: { trusted: boolean } | null;
}

export interface Brief {
  command: string[];
  ended: string | null;
  notable: { what: string; act: string; by: string | null; error: string | null; index: number; count: number }[];
  network: { protocol: string; remote: string; host: string | null; by: string[]; flows: number; bytesOut: number; bytesIn: number }[];
  changes: { path: string; net: string; by: string | null; bytesWritten: number }[];
  readOutside: unknown[];
  processes: number;
  programs: Record<string, number>;
}

const POST_MS = 15_000;

/** The lines of an answer as they come. One that was cut off is not given. */
export async function* linesOf(answer: Response): AsyncGenerator<string> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** What the service answers, asked with the token that this tab was given. */
export class Api {
  /** @param unknown is called where the service does not know the token, or does not any more */
  constructor(private readonly unknown: (why: string) => void) {}

  /** The token of this tab: in its session's storage, and never in an address. */
  token(): string | null {
    return sessionStorage.getItem(TOKEN);
  }

  remember(token: string | null, byLogin = false): void {
    sessionStorage.removeItem(LOGIN);
    if (token === null) {
      sessionStorage.removeItem(TOKEN);
      return;
    }
    sessionStorage.setItem(TOKEN, token);
    if (byLogin) {
      sessionStorage.setItem(LOGIN, "");
    }
  }

  isByLogin(): boolean {
    return sessionStorage.getItem(LOGIN) !== null;
  }

  /** @throws Refused */
  async ask(path: string, options: { method?: string; body?: unknown; signal?: AbortSignal; wait?: number } = {}): Promise<Response> {
    const token = this.token();
    const headers: Record<string, string> = { Authorization: `Bearer ${token ?? ""}` };
    if (options.body !== undefined) {
      headers["Content-Type"] = "application/json";
    }
    let answer: Response;
    try {
      answer = await fetch(`/api/v1${path}`, {
        method: options.method ?? "GET",
        headers,
        body: options.body === undefined ? null : JSON.stringify(options.body),
        // What is not sent within that time waits for other tabs' connections: it must not happen later.
        signal: (options.method ?? "GET") !== "GET" ? AbortSignal.any([AbortSignal.timeout(options.wait ?? POST_MS), ...(options.signal ? [options.signal] : [])]) : (options.signal ?? null),
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
      });
    } catch (problem) {
      throw new Refused(0, options.signal?.aborted ? "no longer wanted" : `the service cannot be reached (${String(problem)})`);
    }
    if (!answer.ok) {
      const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
      if (answer.status === 401 && token === this.token()) {
        this.unknown(problem.detail ?? "the service does not know this token");
      }
      throw new Refused(answer.status, problem.detail ?? `the service answers with ${answer.status}`);
    }
    return answer;
  }

  async json<T>(path: string, signal?: AbortSignal): Promise<T> {
    const answer = await this.ask(path, signal ? { signal } : {});
    return (await answer.json()) as T;
  }

  private static event(line: string, next: number): Record<string, unknown> {
    try {
      const event = JSON.parse(line) as Record<string, unknown>;
      if (typeof event["index"] === "number") {
        return event;
      }
    } catch {
      // said below
    }
    throw new Refused(MALFORMED, `what the service said after event ${next - 1} is no event`);
  }

  /**
   * Gives the events of a run from an index on as they come, also over cut connections: each once, in order.
   *
   * @param lost says that the connection was cut, and why; null when it is there again
   */
  async follow(
    run: string,
    from: number,
    take: (event: Record<string, unknown>) => void,
    lost: (why: string | null) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let next = from;
    let closed = false;
    let vain = 0;
    while (!closed && !signal.aborted) {
      try {
        const answer = await this.ask(`/runs/${run}/events?follow=true&index=${next}`, { signal });
        lost(null);
        for await (const line of linesOf(answer)) {
          const event = Api.event(line, next);
          take(event);
          next = (event["index"] as number) + 1;
          closed ||= event["kind"] === "run.close";
        }
        if (!closed) {
          // The recorder is gone, or what it wrote is on its way to the table: an end is one only where all is here.
          const now = await this.json<Run>(`/runs/${run}`, signal);
          closed = now.state !== "OPEN" && (next >= now.events || ++vain > VAIN_MAX);
          if (closed && next < now.events) {
            throw new Refused(MALFORMED, `the service ends after event ${next - 1}, and the run has ${now.events}`);
          }
        }
      } catch (problem) {
        if (signal.aborted || (problem instanceof Refused && FINAL.includes(problem.status))) {
          throw problem;
        }
        lost(String(problem instanceof Error ? problem.message : problem));
      }
      if (!closed && !signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }
}
