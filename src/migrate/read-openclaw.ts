import { basename, join } from "node:path";
import { messageOf } from "../errors.js";
import { toGoJobs } from "./jobs.js";
import { isObject, type JsonObject } from "./json5.js";
import { openclawSettings } from "./openclaw-settings.js";
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
import type { FoundSession, Problem, Source } from "./source.js";
import { pageKey, toSession, toSessionKey } from "./transcript.js";

/** Its config file, by the names it has had. */
export const openclawConfigs: readonly string[] = ["openclaw.json", "clawdbot.json", "moltbot.json"];

const notes = {
  "AGENTS.md": "AGENTS.md",
  "TOOLS.md": "AGENTS.md",
  "SOUL.md": "SOUL.md",
  "IDENTITY.md": "SOUL.md",
  "USER.md": "USER.md",
  "MEMORY.md": "memory/MEMORY.md",
  "HEARTBEAT.md": "memory/heartbeat.md",
} as const;

/** A home of OpenClaw: `openclaw.json`, a workspace, `agents/<id>/sessions/`, `cron/jobs.json`, `skills/`. */
export async function readOpenclaw(folder: string, homedir: string, now: number): Promise<Source> {
  const problems: Problem[] = [];
  let config: JsonObject = {};
  for (const name of openclawConfigs) {
    const path = join(folder, name);
    if (!(await isFile(path))) continue;
    config = await readObject(path, problems);
    break;
  }
  const named = textAt(config, "agents", "defaults", "workspace") ?? textAt(config, "agent", "workspace");
  const workspace = await findWorkspace(folder, { named, usual: [".openclaw", ".clawdbot"], homedir });
  const agents = await namesIn(join(folder, "agents"));
  const sessions: FoundSession[] = [];
  for (const agent of agents)
    sessions.push(...(await readSessions(join(folder, "agents", agent, "sessions"), problems)));
  const jobs = join(folder, "cron", "jobs.json");
  return {
    kind: "openclaw",
    folder,
    workspace,
    notes: await findNotes(workspace, notes),
    skillFolders: [join(workspace, "skills"), join(folder, "skills")],
    trees: [],
    sessions,
    jobs: toGoJobs(await readObject(jobs, problems), jobs, now, problems),
    settings: await openclawSettings(folder, config, agents, problems),
    problems,
  };
}

/** The transcripts of one agent. `sessions.json` says which of them a chat goes on in; the others are older ones. */
async function readSessions(folder: string, problems: Problem[]): Promise<readonly FoundSession[]> {
  const index = await readObject(join(folder, "sessions.json"), problems);
  const keys = new Map<string, string>();
  for (const [key, entry] of Object.entries(index)) {
    const file = textAt(entry, "sessionFile") ?? `${textAt(entry, "sessionId")}.jsonl`;
    keys.set(basename(file), chatOf(key, entry));
  }
  const found: FoundSession[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!name.endsWith(".jsonl") || !(await isFile(path))) continue;
    try {
      const { rows, damaged } = await readJsonLines(path);
      const entries = rows
        .filter((row) => row.type === "message" && isObject(row.message))
        .map((row) => ({
          ...objectAt(row, "message"),
          timestamp: row.timestamp ?? objectAt(row, "message").timestamp,
        }));
      const key = keys.get(name) ?? pageKey("openclaw", name.slice(0, -".jsonl".length));
      const session = toSession(key, path, { entries, damaged });
      if (session !== undefined) found.push(session);
      else problems.push({ what: path, why: "nobody says anything in it that can be read" });
    } catch (error) {
      problems.push({ what: path, why: messageOf(error) });
    }
  }
  return found;
}

/** `agent:main:telegram:group:-100:topic:5` and its like as our `telegram:-100:5`; other conversations go to the page. */
function chatOf(key: string, entry: unknown): string {
  const plain = key.replace(/^agent:[^:]*:/, "");
  const telegram = /^telegram:(?:[^:]+:)?(?:direct|dm|group):(-?\d+)(?::(?:topic|thread):(\d+))?$/.exec(plain);
  if (telegram !== null) return ["telegram", telegram[1], telegram[2]].filter((part) => part !== undefined).join(":");
  const discord = /^discord:(?:[^:]+:)?(?:channel|group):(\d+)$/.exec(plain);
  if (discord !== null) return `discord:${discord[1]}`;
  // One conversation for all direct chats: it goes on where its owner wrote last.
  const to = /^(?:telegram:)?(\d+)$/.exec(textAt(entry, "deliveryContext", "to") ?? textAt(entry, "lastTo") ?? "");
  const channel = textAt(entry, "deliveryContext", "channel") ?? textAt(entry, "lastChannel");
  if (plain === "main" && channel === "telegram" && to !== null) return `telegram:${to[1]}`;
  return toSessionKey(`agent:${plain}`, "openclaw");
}
