import { basename, join } from "node:path";
import { importsOf, ownNameOf } from "../../channels/platforms.js";
import { messageOf } from "../../errors.js";
import { toGoJobs } from "../jobs.js";
import {
  findNotes,
  findWorkspace,
  isFile,
  namesIn,
  objectAt,
  readJsonLines,
  readObject,
  textAt,
} from "../read-files.js";
import type { FoundSession, Problem, Source } from "../source.js";
import { pageKey, toSession, toSessionKey } from "../transcript.js";
import { accountNames } from "./accounts.js";
import { databaseJobs, databaseTranscripts, sharedDatabase, type Transcript } from "./database.js";
import { readWithIncludes } from "./include.js";
import { isObject, type JsonObject } from "./json5.js";
import { readOpenclawSettings } from "./settings.js";

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

/**
 * A home of OpenClaw: `openclaw.json`, a workspace, `skills/`, and in files (`agents/<id>/sessions/`, `cron/jobs.json`) or
 * databases (`agents/<id>/agent/openclaw-agent.sqlite`, `state/openclaw.sqlite`) the rest.
 */
export async function readOpenclaw(folder: string, homedir: string, now: number): Promise<Source> {
  const problems: Problem[] = [];
  let config: JsonObject = {};
  for (const name of openclawConfigs) {
    const path = join(folder, name);
    if (!(await isFile(path))) continue;
    config = await readWithIncludes(path, folder, problems);
    break;
  }
  const named = textAt(config, "agents", "defaults", "workspace") ?? textAt(config, "agent", "workspace");
  const workspace = await findWorkspace(folder, { named, usual: [".openclaw", ".clawdbot"], homedir });
  const agents = await namesIn(join(folder, "agents"));
  const names = accountNames(objectAt(config, "channels"));
  const sessions: FoundSession[] = [];
  for (const agent of agents) sessions.push(...(await readSessions(join(folder, "agents", agent), names, problems)));
  const jobsFile = join(folder, "cron", "jobs.json");
  const database = sharedDatabase(folder);
  const jobs = {
    ...toGoJobs(await readObject(jobsFile, problems), jobsFile, now, problems, names),
    ...toGoJobs(await databaseJobs(folder, problems), database, now, problems, names),
  };
  return {
    kind: "openclaw",
    folder,
    workspace,
    notes: await findNotes(workspace, notes),
    skillFolders: [join(workspace, "skills"), join(folder, "skills")],
    trees: [],
    sessions,
    jobs,
    settings: await readOpenclawSettings(folder, config, agents, problems),
    problems,
  };
}

/** The conversations of one agent, those of its database first. */
async function readSessions(
  folder: string,
  names: ReadonlyMap<string, string>,
  problems: Problem[],
): Promise<readonly FoundSession[]> {
  const transcripts = [...(await databaseTranscripts(folder, problems))];
  const inDatabase = new Set(transcripts.map(({ id }) => id));
  const files = await fileTranscripts(join(folder, "sessions"), problems);
  transcripts.push(...files.filter(({ id }) => !inDatabase.has(id)));
  return transcripts.flatMap(({ from, id, key, entry, rows, damaged }): readonly FoundSession[] => {
    const entries = rows
      .filter((row) => row.type === "message" && isObject(row.message))
      .map((row) => ({
        ...objectAt(row, "message"),
        timestamp: row.timestamp ?? objectAt(row, "message").timestamp,
      }));
    const ours = key === undefined ? pageKey("openclaw", id) : chatOf(key, entry, names);
    const session = toSession(ours, from, { entries, damaged });
    if (session !== undefined) return [session];
    problems.push({ what: from, why: "no message in it can be read" });
    return [];
  });
}

/** `sessions.json` says in which of the files a chat goes on; the others are older ones. */
async function fileTranscripts(folder: string, problems: Problem[]): Promise<readonly Transcript[]> {
  const index = await readObject(join(folder, "sessions.json"), problems);
  const chats = new Map<string, readonly [key: string, entry: unknown]>();
  for (const [key, entry] of Object.entries(index)) {
    const file = textAt(entry, "sessionFile") ?? `${textAt(entry, "sessionId")}.jsonl`;
    chats.set(basename(file), [key, entry]);
  }
  const found: Transcript[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!name.endsWith(".jsonl") || !(await isFile(path))) continue;
    try {
      const [key, entry] = chats.get(name) ?? [];
      found.push({ from: path, id: name.slice(0, -".jsonl".length), key, entry, ...(await readJsonLines(path)) });
    } catch (error) {
      problems.push({ what: path, why: messageOf(error) });
    }
  }
  return found;
}

/** `agent:main:telegram:group:-100:topic:5` and its like as our `telegram:-100:5`; other conversations go to the page. */
function chatOf(key: string, entry: unknown, names: ReadonlyMap<string, string>): string {
  const plain = key.replace(/^agent:[^:]*:/, "");
  const [, theirs = "", account = "", kind = "", written = ""] =
    /^([^:]+):(?:([^:]+):)?(direct|dm|group|channel):(.+)$/.exec(plain) ?? [];
  const channelNamed = (channel: string, id: string): string => names.get(`${channel}:${id}`) ?? ownNameOf(channel);
  const chat = importsOf(ownNameOf(theirs))?.chatOf?.(written, kind);
  if (chat !== undefined) return [channelNamed(theirs, account), ...chat].join(":");
  // One conversation for all direct chats: it goes on where its owner wrote last.
  const to = textAt(entry, "deliveryContext", "to") ?? textAt(entry, "lastTo") ?? "";
  const channel = textAt(entry, "deliveryContext", "channel") ?? textAt(entry, "lastChannel") ?? "";
  const last = textAt(entry, "deliveryContext", "accountId") ?? textAt(entry, "lastAccountId") ?? "";
  const direct = plain === "main" ? importsOf(ownNameOf(channel))?.directChatOf?.(to) : undefined;
  if (direct !== undefined) return `${channelNamed(channel, last)}:${direct}`;
  return toSessionKey(`agent:${plain}`, "openclaw");
}
