import type { JsonObject } from "../../config/substitute.js";
import type { CommandContext } from "../context.js";
import { connectRunning } from "./connect.js";

/**
 * What the gateway that runs has made of a change of `file`, at `key` or anywhere in it, as a sentence; undefined where none
 * runs.
 */
export async function changeTold(context: CommandContext, file: string, key?: string): Promise<string | undefined> {
  const client = await connectRunning(context);
  if (client === undefined) return undefined;
  const { restart } = toObject(await client.get("/api/config/pending"));
  const { path, problem } = toObject(toObject(await client.get("/api/status")).config);
  if (path !== file) return `The running gateway uses another file: ${String(path ?? "none")}.`;
  if (typeof problem === "string") return problem;
  const isBelow = (one: string, other: string): boolean => one === other || one.startsWith(`${other}.`);
  const isMeant = (one: string): boolean => key === undefined || isBelow(one, key) || isBelow(key, one);
  const due = Array.isArray(restart) ? restart.map(String).filter(isMeant) : [];
  if (due.length === 0) return "The running gateway has taken it over.";
  return `Restart the gateway for ${due.join(", ")} to count.`;
}

function toObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
