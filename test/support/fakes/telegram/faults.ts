import { type Call, type Reply, refusal, write } from "./wire.js";

export interface BreakNext {
  readonly method: string;
  readonly chatId?: string;
  readonly times?: number;
}

export interface FailNext extends BreakNext {
  readonly status: number;
  readonly description?: string;
  /** Seconds, as Telegram says it. */
  readonly retryAfter?: number;
  /** Answered as it is, instead of Telegram's JSON. */
  readonly body?: string;
}

type Act = (call: Call, carryOut: () => Reply | Promise<Reply>) => void;

interface Fault {
  readonly method: string;
  readonly chatId: string | undefined;
  left: number;
  readonly act: Act;
}

/** What goes wrong with the next calls. */
export class Faults {
  readonly #planned: Fault[] = [];

  /** What happens to this call instead of its answer. */
  take(method: string, chatId: string): Act | undefined {
    const index = this.#planned.findIndex(
      (fault) => fault.method === method && (fault.chatId === undefined || fault.chatId === chatId),
    );
    const fault = this.#planned[index];
    if (fault === undefined) return undefined;
    fault.left -= 1;
    if (fault.left <= 0) this.#planned.splice(index, 1);
    return fault.act;
  }

  fail(failure: FailNext): void {
    this.#plan(failure, ({ response }) => {
      if (failure.body !== undefined) {
        response.writeHead(failure.status, { "content-type": "text/html" }).end(failure.body);
        return;
      }
      const description = failure.description ?? defaultDescription(failure.status, failure.retryAfter);
      write(response, refusal(failure.status, description, failure.retryAfter));
    });
  }

  cut(options: BreakNext & { readonly when: "before" | "after" }): void {
    this.#plan(options, async ({ request }, carryOut) => {
      if (options.when === "after") await carryOut();
      request.socket.destroy();
    });
  }

  hang(options: BreakNext & { readonly carriedOut?: boolean }): void {
    this.#plan(options, (_call, carryOut) => {
      if (options.carriedOut === true) void carryOut();
    });
  }

  answerLate(options: BreakNext & { readonly ms: number }): void {
    this.#plan(options, async ({ response }, carryOut) => {
      const reply = await carryOut();
      setTimeout(() => write(response, reply), options.ms);
    });
  }

  #plan({ method, chatId, times = 1 }: BreakNext, act: Act): void {
    this.#planned.push({ method, chatId, left: times, act });
  }
}

function defaultDescription(status: number, retryAfter?: number): string {
  if (status === 429) return `Too Many Requests: retry after ${retryAfter ?? 1}`;
  if (status === 401) return "Unauthorized";
  if (status === 403) return "Forbidden: bot was blocked by the user";
  if (status === 409)
    return "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
  return status >= 500 ? "Internal Server Error" : "Bad Request: refused";
}
