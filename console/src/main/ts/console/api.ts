const TOKEN = "blackbox.token";

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

/** What the service answers, asked with the token that this tab was given. */
export class Api {
  /** The token of this tab; it is forgotten with the tab, and never in an address. */
  token(): string | null {
    return sessionStorage.getItem(TOKEN);
  }

  remember(token: string | null): void {
    if (token === null) {
      sessionStorage.removeItem(TOKEN);
    } else {
      sessionStorage.setItem(TOKEN, token);
    }
  }

  /** @throws Refused */
  async ask(path: string, options: { method?: string; body?: unknown; signal?: AbortSignal } = {}): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token() ?? ""}` };
    if (options.body !== undefined) {
      headers["Content-Type"] = "application/json";
    }
    let answer: Response;
    try {
      answer = await fetch(`/api/v1${path}`, {
        method: options.method ?? "GET",
        headers,
        body: options.body === undefined ? null : JSON.stringify(options.body),
        signal: options.signal ?? null,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
      });
    } catch (problem) {
      throw new Refused(0, options.signal?.aborted ? "no longer wanted" : `the service cannot be reached (${String(problem)})`);
    }
    if (!answer.ok) {
      const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
      throw new Refused(answer.status, problem.detail ?? `the service answers with ${answer.status}`);
    }
    return answer;
  }

  async json<T>(path: string, signal?: AbortSignal): Promise<T> {
    const answer = await this.ask(path, signal ? { signal } : {});
    return (await answer.json()) as T;
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
    while (!closed && !signal.aborted) {
      try {
        const answer = await this.ask(`/runs/${run}/events?follow=true&index=${next}`, { signal });
        lost(null);
        const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          const lines = (rest + part.value).split("\n");
          rest = lines.pop()!; // a line that was cut off is asked for again
          for (const line of lines) {
            const event = JSON.parse(line) as Record<string, unknown>;
            take(event);
            next = (event["index"] as number) + 1;
            closed ||= event["kind"] === "run.close";
          }
        }
        closed ||= (await this.json<Run>(`/runs/${run}`, signal)).state !== "OPEN";
      } catch (problem) {
        if (signal.aborted || (problem instanceof Refused && problem.status !== 0 && problem.status !== 503)) {
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
