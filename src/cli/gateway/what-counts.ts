import type { JsonObject } from "../../config/substitute.js";
import type { CommandContext } from "../context.js";
import { printNote } from "../text/output.js";
import { connectRunning } from "./connect.js";

/** Says whether the gateway that runs has taken these changes of a file over. Resolves with false where none runs. */
export async function tellWhatCounts(context: CommandContext, file: string, keys: readonly string[]): Promise<boolean> {
  const client = await connectRunning(context);
  if (client === undefined) return false;
  const { restart } = toObject(await client.get("/api/config/pending"));
  const { path, problem } = toObject(toObject(await client.get("/api/status")).config);
  const isBelow = (one: string, other: string): boolean => one === other || one.startsWith(`${other}.`);
  const due = (Array.isArray(restart) ? restart.map(String) : []).filter((one) =>
    keys.some((key) => isBelow(one, key) || isBelow(key, one)),
  );
  if (path !== file) printNote(`The running gateway uses another file: ${String(path ?? "none")}.`);
  else if (typeof problem === "string") printNote(problem);
  else if (due.length === 0) printNote("The running gateway has taken it over.");
  else printNote(`Restart the gateway for ${due.join(", ")} to count.`);
  return true;
}

function toObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
