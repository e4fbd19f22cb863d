import type { JsonObject } from "../../config/substitute.js";
import type { CommandContext } from "../context.js";
import { RequestRefused } from "./api-client.js";
import { connectRunning } from "./connect.js";

/** Whether the running gateway uses these changed keys of `file` already, as a sentence; undefined when no gateway runs. */
export async function describeEffect(
  context: CommandContext,
  file: string,
  keys: readonly string[],
): Promise<string | undefined> {
  const client = await connectRunning(context);
  if (client === undefined) return undefined;
  const isBelow = (one: string, other: string): boolean => one === other || one.startsWith(`${other}.`);
  const isMeant = (one: string): boolean => keys.some((key) => isBelow(one, key) || isBelow(key, one));
  try {
    const { restart } = toObject(await client.get("/api/config/pending"));
    const { path, problem } = toObject(toObject(await client.get("/api/status")).config);
    if (path !== file) return `The running gateway uses another file: ${String(path ?? "none")}.`;
    if (typeof problem === "string") return problem;
    const due = Array.isArray(restart) ? restart.map(String).filter(isMeant) : [];
    return due.length === 0
      ? "The running gateway uses it now."
      : `Restart the gateway for ${due.join(", ")} to take effect.`;
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    return isMeant("gateway.token")
      ? "Restart the gateway for gateway.token to take effect."
      : `The running gateway does not say whether it uses it. ${error.message}`;
  }
}

/** Whether a gateway runs that goes on with an earlier config than that of the file. */
export async function hasEarlierConfig(context: CommandContext): Promise<boolean> {
  const client = await connectRunning(context);
  if (client === undefined) return false;
  try {
    return typeof toObject(toObject(await client.get("/api/status")).config).problem === "string";
  } catch (error) {
    // It wants a token, which the file does not have any more, or not in a way that can be read.
    if (isUnauthorized(error)) return true;
    throw error;
  }
}

const isUnauthorized = (error: unknown): error is RequestRefused =>
  error instanceof RequestRefused && error.status === 401;

function toObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
