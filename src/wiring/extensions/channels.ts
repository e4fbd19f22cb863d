import type { Channel, PlatformContext } from "../../channels/channel.js";
import { messageOf } from "../../errors.js";
import type { Extension } from "./extension.js";

/** What is a channel already, or the first part of keys that are none. */
const reservedNames: ReadonlySet<string> = new Set(["webui", "cli", "system", "cron"]);

/** The channels of an extension that can be used. What is wrong with the others is told by `onProblem`. */
export function channelsOf(
  make: NonNullable<Extension["channels"]>,
  context: PlatformContext,
  taken: readonly string[],
  onProblem: (why: string) => void,
): readonly Channel[] {
  const names = new Set(taken);
  const whyNot = (channel: unknown): string | undefined => {
    if (!isChannel(channel)) return "a channel has name, run, split and send";
    const { name } = channel;
    if (!/^[a-z0-9-]+$/.test(name) || reservedNames.has(name)) return `"${name}" cannot be the name of a channel`;
    if (names.has(name)) return `there is a channel ${name} already`;
    names.add(name);
    return undefined;
  };
  try {
    const made: unknown = make(context);
    if (!Array.isArray(made)) {
      // Nobody waits for it: what it rejects with must not end the gateway.
      void Promise.resolve(made).catch(() => undefined);
      const given = made instanceof Promise ? "a promise" : String(made);
      onProblem(`channels must return an array, not ${given}`);
      return [];
    }
    return made.filter((channel: unknown): channel is Channel => {
      const why = whyNot(channel);
      if (why !== undefined) onProblem(why);
      return why === undefined;
    });
  } catch (error) {
    onProblem(`its channels cannot be made: ${messageOf(error)}`);
    return [];
  }
}

function isChannel(value: unknown): value is Channel {
  if (typeof value !== "object" || value === null || typeof Reflect.get(value, "name") !== "string") return false;
  return ["run", "split", "send"].every((name) => typeof Reflect.get(value, name) === "function");
}
