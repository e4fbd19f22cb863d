import type { Engine } from "../../engine/engine.js";
import { draft } from "../../events/event.js";
import { derivedId } from "../../util/ids.js";
import { namesOf } from "../../util/text/untrusted.js";

/** The conversations in which it is kept. */
export interface SaidPorts {
  readonly engine: Pick<Engine, "append">;
  readonly sessions: {
    keys(isWanted: (key: string) => boolean): Promise<readonly string[]>;
    open(key: string): Promise<unknown>;
  };
}

/**
 * Keeps what the assistant says in a chat besides its turns in that chat's conversation. Where each thread is a
 * conversation and this one has none yet, nothing is kept: the answer begins one of its own. The same `id` again changes
 * nothing.
 */
export async function keepSaid(
  { engine, sessions }: SaidPorts,
  key: string,
  { id, text, outside }: { readonly id: readonly string[]; readonly text: string; readonly outside: readonly string[] },
): Promise<void> {
  if ((await sessions.keys((known) => known === key)).length === 0) return;
  // An older history is taken over before anything is added to it.
  await sessions.open(key);
  const label = outside.length === 0 ? {} : { outside: namesOf(outside) };
  const messages = [{ role: "assistant", content: text, ...label }];
  const said = draft("session_history_changed", { kind: "said", messages }, { source: "gateway" });
  await engine.append(key, [{ ...said, event_id: derivedId("evt", ...id) }], { durable: false });
}
