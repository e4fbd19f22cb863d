import type { Timeline } from "../../../events/folds/timeline/timeline.js";
import type { TurnLine } from "../../../events/folds/timeline/turn-line.js";
import { recordsIn, textIn } from "../../gateway/api.js";
import type { PaneWorld } from "../world.js";

export interface TurnPage {
  readonly turns: readonly TurnLine[];
  readonly before?: number;
}

export interface Replayed {
  readonly events: number;
  readonly isSame: boolean;
  readonly difference?: {
    readonly position: number;
    readonly type: string;
    readonly fields: readonly { readonly path: string; readonly recorded: string; readonly now: string }[];
  };
}

export interface Sent {
  readonly model: string;
  readonly sentAt: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly body: string;
  readonly isExact: boolean;
}

const replayMs = 90_000;

/** The gateway's answers about turns: they are what docs/http.md says. */
export class TurnReader {
  readonly #api: PaneWorld["api"];
  readonly key: string;

  constructor({ api }: Pick<PaneWorld, "api">, key: string) {
    this.#api = api;
    this.key = key;
  }

  async turns(before?: number): Promise<TurnPage> {
    const query = before === undefined ? "" : `&before=${before}`;
    return (await this.#json("GET", `${this.#path}/turns?limit=30${query}`)) as TurnPage;
  }

  async timeline(turnId: string): Promise<Timeline> {
    return (await this.#json("GET", `${this.#path}/turns/${encodeURIComponent(turnId)}/timeline`)) as Timeline;
  }

  async replay(turnId: string): Promise<Replayed> {
    const path = `${this.#path}/turns/${encodeURIComponent(turnId)}/replay`;
    return (await this.#json("POST", path, replayMs)) as Replayed;
  }

  /** The key of a new chat with everything up to an event. */
  async fork(at: number): Promise<string> {
    return textIn((await this.#api.post(`${this.#path}/fork`, { at })).key);
  }

  /** What was sent to a model in one call of a turn, each attempt by itself. */
  async sent(turnId: string, iteration: number): Promise<readonly Sent[]> {
    const path = `${this.#path}/turns/${encodeURIComponent(turnId)}/sent/${iteration}`;
    return ((await this.#json("GET", path)) as { readonly requests: readonly Sent[] }).requests;
  }

  /** One event of the log, as it is there. */
  async event(seq: number): Promise<string> {
    const { events } = await this.#api.get(`${this.#path}/events?from_sequence=${seq - 1}&limit=1`);
    const [event] = recordsIn(events);
    return JSON.stringify(event?.payload, undefined, 2);
  }

  /** What the gateway's own routes answer: the casts above say what docs/http.md says. */
  async #json(method: "GET" | "POST", path: string, timeoutMs?: number): Promise<unknown> {
    const answer = await this.#api.response(method, path, undefined, timeoutMs === undefined ? {} : { timeoutMs });
    return await answer.json();
  }

  get #path(): string {
    return `api/sessions/${encodeURIComponent(this.key)}`;
  }
}
