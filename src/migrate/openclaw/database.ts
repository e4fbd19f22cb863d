import { join } from "node:path";
import { messageOf } from "../../errors.js";
import { at, isFile, objectAt, textAt } from "../read-files.js";
import type { Problem } from "../source.js";
import { isObject, type JsonObject } from "./json5.js";
import { type Ask, askDatabase } from "./sqlite.js";

/** A conversation as OpenClaw keeps it, in whatever way. */
export interface Transcript {
  /** Its file, or its place in a database. */
  readonly from: string;
  readonly id: string;
  /** OpenClaw's key of its chat; undefined for one that the chat has left behind. */
  readonly key: string | undefined;
  /** What is known about that chat. */
  readonly entry: unknown;
  readonly rows: readonly JsonObject[];
  /** Lines that cannot be read, from 1. */
  readonly damaged: readonly number[];
}

/** Since 2026.7 conversations are in a database of each agent. */
export async function databaseTranscripts(agentFolder: string, problems: Problem[]): Promise<readonly Transcript[]> {
  const path = join(agentFolder, "agent", "openclaw-agent.sqlite");
  const read = async (ask: Ask): Promise<readonly Transcript[]> => {
    const tables = await tablesOf(ask);
    if (!tables.has("transcript_events")) return [];
    const chats = await ask(
      tables.has("session_nodes")
        ? "SELECT session_key AS key, current_session_id AS id, entry_json AS entry FROM session_nodes"
        : "SELECT session_key AS key, session_id AS id, entry_json AS entry FROM session_entries",
    );
    const found: Transcript[] = [];
    for (const { id } of await ask("SELECT DISTINCT session_id AS id FROM transcript_events ORDER BY 1")) {
      if (typeof id !== "string") continue;
      const quoted = `'${id.replaceAll("'", "''")}'`;
      const events = await ask(
        `SELECT event_json AS event FROM transcript_events WHERE session_id = ${quoted} ORDER BY seq`,
      );
      const parsed = events.map(({ event }) => parse(event));
      const chat = chats.find((each) => each.id === id);
      found.push({
        from: join(path, id),
        id,
        key: textAt(chat, "key"),
        entry: parse(chat?.entry),
        rows: parsed.flatMap((row) => (row === undefined ? [] : [row])),
        damaged: parsed.flatMap((row, index) => (row === undefined ? [index + 1] : [])),
      });
    }
    return found;
  };
  return (await ifThere(path, read, problems)) ?? [];
}

/** Scheduled jobs of the shared database, as its `cron/jobs.json` had them before. */
export async function databaseJobs(folder: string, problems: Problem[]): Promise<JsonObject> {
  const read = async (ask: Ask): Promise<readonly JsonObject[]> => {
    if (!(await tablesOf(ask)).has("cron_jobs")) return [];
    const rows = await ask("SELECT job_json AS job FROM cron_jobs ORDER BY job_id");
    return rows.map(({ job }) => parse(job) ?? {});
  };
  return { jobs: (await ifThere(sharedDatabase(folder), read, problems)) ?? [] };
}

export function sharedDatabase(folder: string): string {
  return join(folder, "state", "openclaw.sqlite");
}

/** Logins at providers, by name, which the shared database and those of agents hold. */
export async function databaseProfiles(path: string, problems: Problem[]): Promise<JsonObject> {
  const read = async (ask: Ask): Promise<JsonObject> => {
    const tables = await tablesOf(ask);
    const found: unknown[] = [];
    for (const table of ["auth_profile_stores", "auth_profile_store"])
      if (tables.has(table)) found.push(...(await ask(`SELECT store_json AS store FROM ${table} ORDER BY store_key`)));
    // The shared one keeps it among other things since 2026.8.
    if (tables.has("config_machine_state"))
      found.push(
        ...(await ask("SELECT value_json AS store FROM config_machine_state WHERE state_key = 'authProfiles.store'")),
      );
    const profiles = found.map((row) => parse(at(row, "store")));
    if (profiles.includes(undefined))
      problems.push({ what: path, why: "its logins are damaged: write the keys into the config yourself" });
    return Object.assign({}, ...profiles.map((store) => objectAt(store, "profiles")));
  };
  return (await ifThere(path, read, problems)) ?? {};
}

async function tablesOf(ask: Ask): Promise<ReadonlySet<unknown>> {
  return new Set((await ask("SELECT name FROM sqlite_master WHERE type = 'table'")).map(({ name }) => name));
}

async function ifThere<T>(path: string, read: (ask: Ask) => Promise<T>, problems: Problem[]): Promise<T | undefined> {
  if (!(await isFile(path))) return undefined;
  try {
    return await askDatabase(path, read);
  } catch (error) {
    // One line for a database, however often it is asked.
    if (!problems.some(({ what }) => what === path)) problems.push({ what: path, why: messageOf(error) });
    return undefined;
  }
}

function parse(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
