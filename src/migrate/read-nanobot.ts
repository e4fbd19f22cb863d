import { join } from "node:path";
import { messageOf } from "../errors.js";
import { toGoJobs } from "./jobs.js";
import { isObject } from "./json5.js";
import {
  findNotes,
  findWorkspace,
  isFile,
  namesIn,
  objectAt,
  readJsonLines,
  readObject,
  textAt,
} from "./read-files.js";
import { channelSetting, commonSettings, providerSettings, toCamelKeys } from "./settings.js";
import type { FoundSession, Problem, Source } from "./source.js";
import { toSession, toSessionKey } from "./transcript.js";

const notes = {
  "AGENTS.md": "AGENTS.md",
  "SOUL.md": "SOUL.md",
  "USER.md": "USER.md",
  "TOOLS.md": "AGENTS.md",
  "HEARTBEAT.md": "memory/heartbeat.md",
} as const;

/** A home of nanobot (Python): `config.json`, `workspace/`, `sessions/*.jsonl`, `cron/jobs.json`. */
export async function readNanobot(folder: string, homedir: string, now: number): Promise<Source> {
  const problems: Problem[] = [];
  const config = toCamelKeys(await readObject(join(folder, "config.json"), problems));
  const named = textAt(config, "agents", "defaults", "workspace");
  const workspace = await findWorkspace(folder, { named, usual: [".nanobot"], homedir });
  const channels = Object.entries(objectAt(config, "channels")).flatMap(([name, section]) =>
    isObject(section) ? (channelSetting(name, section, problems) ?? []) : [],
  );
  const providers = providerSettings(objectAt(config, "providers"), problems);
  let jobs = {};
  for (const path of [join(folder, "cron", "jobs.json"), join(workspace, "cron", "jobs.json")]) {
    const stored = toCamelKeys(await readObject(path, problems));
    jobs = { ...jobs, ...toGoJobs(isObject(stored) ? stored : {}, path, now, problems) };
  }
  return {
    kind: "nanobot",
    folder,
    workspace,
    notes: await findNotes(workspace, notes),
    skillFolders: [join(workspace, "skills")],
    trees: [],
    sessions: await readSessions([join(workspace, "sessions"), join(folder, "sessions")], problems),
    jobs,
    settings: [...channels, ...providers, ...commonSettings(isObject(config) ? config : {})],
    problems,
  };
}

async function readSessions(folders: readonly string[], problems: Problem[]): Promise<readonly FoundSession[]> {
  const found: FoundSession[] = [];
  for (const folder of folders) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (!name.endsWith(".jsonl") || !(await isFile(path))) continue;
      try {
        const { rows, damaged } = await readJsonLines(path);
        const head = rows.find((row) => row._type === "metadata");
        // Files of before keys were kept in them: the first _ stood for the colon.
        const key = textAt(head, "key") ?? name.slice(0, -".jsonl".length).replace("_", ":");
        const topic = /^(telegram:-?\d+):topic:(\d+)$/.exec(key);
        const ours = topic === null ? toSessionKey(key, "nanobot") : `${topic[1]}:${topic[2]}`;
        const entries = rows.filter((row) => row._type === undefined);
        const session = toSession(ours, path, { entries, damaged });
        if (session !== undefined) found.push(session);
        else problems.push({ what: path, why: "nobody says anything in it that can be read" });
      } catch (error) {
        problems.push({ what: path, why: messageOf(error) });
      }
    }
  }
  return found;
}
