import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../errors.js";
import { gatewayLogName } from "../sessions/file-names.js";
import { isObject, type JsonObject } from "./openclaw/json5.js";
import { findNotes, findWorkspace, isFile, namesIn, objectAt, readObject, textAt } from "./read-files.js";
import { channelSetting, commonSettings, providerSettings } from "./settings.js";
import type { FoundSession, Problem, Source } from "./source.js";

const notes = { "AGENTS.md": "AGENTS.md", "SOUL.md": "SOUL.md", "USER.md": "USER.md" } as const;

/** A home of the Go maxclaw: `config.json`, and in the workspace `.sessions/*.json`, `.cron/jobs.json`, `.uploads/`. */
export async function readMaxclaw(folder: string, homedir: string, now: number): Promise<Source> {
  const problems: Problem[] = [];
  const config = await readObject(join(folder, "config.json"), problems);
  const named = textAt(config, "agents", "defaults", "workspace");
  const workspace = await findWorkspace(folder, { named, usual: [".maxclaw", ".nanobot"], homedir });
  const channels = Object.entries(objectAt(config, "channels")).flatMap(([name, section]) =>
    isObject(section) ? (channelSetting(name, section, problems) ?? []) : [],
  );
  if (await isFile(join(folder, gatewayLogName)))
    problems.push({ what: folder, why: "its logs stay behind: maxclaw backup and restore move such a home as it is" });
  return {
    kind: "maxclaw",
    folder,
    workspace,
    notes: await findNotes(workspace, notes),
    skillFolders: [join(workspace, "skills")],
    trees: [
      { from: join(workspace, ".uploads"), to: ".uploads" },
      { from: join(workspace, ".skills_state.json"), to: ".skills_state.json" },
    ],
    sessions: await readSessions(join(workspace, ".sessions"), problems),
    jobs: await readJobs(join(workspace, ".cron", "jobs.json"), now, problems),
    settings: [...channels, ...providerSettings(objectAt(config, "providers"), problems), ...commonSettings(config)],
    problems,
  };
}

async function readSessions(folder: string, problems: Problem[]): Promise<readonly FoundSession[]> {
  const found: FoundSession[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!name.endsWith(".json") || !(await isFile(path))) continue;
    try {
      const document: unknown = JSON.parse((await readFile(path, "utf8")).replace(/^\uFEFF/, ""));
      const key = textAt(document, "key");
      const messages = isObject(document) ? (document.messages ?? []) : undefined;
      if (
        key === undefined ||
        !/^(?!system:)[a-z0-9-]+:./.test(key) ||
        !Array.isArray(messages) ||
        !messages.every(isMessage)
      ) {
        problems.push({ what: path, why: "it is not a session document" });
        continue;
      }
      if (messages.length === 0) continue;
      // The number of a log that does not come along.
      const { lastSequence, ...metadata } = objectAt(document, "metadata");
      const inner = join(folder, name.slice(0, -".json".length));
      found.push({
        from: path,
        key,
        document: { ...Object(document), metadata },
        messages: messages.length,
        folder: inner,
      });
    } catch (error) {
      problems.push({ what: path, why: error instanceof SyntaxError ? "it is not JSON" : messageOf(error) });
    }
  }
  return found;
}

/** What the take-over of documents can read. */
function isMessage(message: unknown): boolean {
  const isText = (value: unknown): boolean => value === undefined || value === null || typeof value === "string";
  return isObject(message) && typeof message.role === "string" && isText(message.content) && isText(message.timestamp);
}

async function readJobs(path: string, now: number, problems: Problem[]): Promise<JsonObject> {
  const stored = await readObject(path, problems);
  const kept = Object.entries(stored).filter(([id, job]) => {
    const what = `${path}: the job ${textAt(job, "name") ?? id}`;
    const type = textAt(job, "schedule", "type");
    const isKnown = type === "every" || type === "cron" || type === "once";
    if (!isKnown || textAt(job, "payload", "message") === undefined) {
      problems.push({ what, why: "it has no time or no message that can be read" });
      return false;
    }
    const isPast = type === "once" && Number(objectAt(job, "schedule").atMs ?? 0) <= now;
    if (isPast) problems.push({ what, why: "its time has passed" });
    return !isPast;
  });
  return Object.fromEntries(kept);
}
