import type { Reply } from "./wire.js";

export type FakeDiscordFault =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter?: number; readonly code?: number }
  /** The connection breaks before or after the call is carried out. */
  | { readonly kind: "cut"; readonly carriedOut: boolean }
  | { readonly kind: "hang"; readonly carriedOut: boolean };

/** What goes wrong with the next calls. */
export class Faults {
  readonly #planned: { readonly call: RegExp; readonly fault: FakeDiscordFault }[] = [];

  plan(call: RegExp, fault: FakeDiscordFault): void {
    this.#planned.push({ call, fault });
  }

  take(call: string): FakeDiscordFault | undefined {
    const at = this.#planned.findIndex((one) => one.call.test(call));
    return at === -1 ? undefined : this.#planned.splice(at, 1)[0]?.fault;
  }
}

export function failure({ status, retryAfter, code = 0 }: FakeDiscordFault & { kind: "answer" }): Reply {
  if (status !== 429) return { status, body: { message: `failed with ${status}`, code } };
  const wait = retryAfter ?? 1;
  const headers = { "retry-after": String(wait), "x-ratelimit-scope": "shared" };
  return { status, headers, body: { message: "You are being rate limited.", retry_after: wait, global: false } };
}
