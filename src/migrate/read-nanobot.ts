import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { importsOf, ownNameOf } from "../channels/platforms.js";
import { accountsOn } from "../config/faults/account-name.js";
import { messageOf } from "../errors.js";
import { toGoJobs } from "./jobs.js";
import { isObject, type JsonObject } from "./openclaw/json5.js";
import { providerName } from "./provider-names.js";
import {
  at,
  findNotes,
  findWorkspace,
  isFile,
  namesIn,
  objectAt,
  parseJsonLines,
  readJsonLines,
  readObject,
  textAt,
} from "./read-files.js";
import { allowedGroups, channelSetting, commonSettings, providerSettings, toCamel, toCamelKeys } from "./settings.js";
import type { FoundNote, FoundSession, Problem, Source } from "./source.js";
import { toSession, toSessionKey } from "./transcript.js";

const notes = {
  "AGENTS.md": "AGENTS.md",
  "SOUL.md": "SOUL.md",
  "USER.md": "USER.md",
  "TOOLS.md": "AGENTS.md",
  "HEARTBEAT.md": "memory/heartbeat.md",
} as const;

/** A home of nanobot (Python): `config.json`, `workspace/`, `sessions/<id>/*.jsonl`, `cron/jobs.json`. */
export async function readNanobot(folder: string, homedir: string, now: number): Promise<Source> {
  const problems: Problem[] = [];
  const stored = toCamelKeys(await readObject(join(folder, "config.json"), problems));
  const config = withModel(isObject(stored) ? stored : {});
  const named = textAt(config, "agents", "defaults", "workspace");
  const workspace = await findWorkspace(folder, { named, usual: [".nanobot"], homedir });
  const channels = Object.entries(objectAt(config, "channels")).flatMap(([name, section]) =>
    (isObject(section) ? botsOf(name, section) : []).flatMap(
      (bot) => channelSetting(name, toChannel(name, bot.section, problems), problems, bot.name) ?? [],
    ),
  );
  const providers = providerSettings(objectAt(config, "providers"), problems);
  let jobs = {};
  for (const path of [join(folder, "cron", "jobs.json"), join(workspace, "cron", "jobs.json")]) {
    const found = toCamelKeys(await readObject(path, problems));
    const stored = await addPendingJobs(isObject(found) ? found : {}, join(dirname(path), "action.jsonl"), problems);
    jobs = { ...jobs, ...toGoJobs(stored, path, now, problems) };
  }
  return {
    kind: "nanobot",
    folder,
    workspace,
    notes: [...(await findNotes(workspace, notes)), ...(await findHistory(workspace))],
    skillFolders: [join(workspace, "skills")],
    trees: [],
    sessions: await readSessions(await findSessionFolders(folder, workspace), problems),
    jobs,
    settings: [...channels, ...providers, ...commonSettings(config)],
    problems,
  };
}

/** The bots of a channel, as they are called here. The first one that is on has the channel's name. */
function botsOf(
  name: string,
  { instances, ...stored }: JsonObject,
): readonly { readonly name: string; readonly section: JsonObject }[] {
  const bots = Array.isArray(instances) ? instances.filter(isObject) : [];
  const first = bots.find(({ enabled }) => enabled !== false) ?? bots[0];
  if (first === undefined) return [{ name: ownNameOf(name), section: stored }];
  const sectionOf = (bot: JsonObject): JsonObject => ({
    ...stored,
    ...bot,
    enabled: bot.enabled === false && bot !== first ? false : stored.enabled,
  });
  const others = bots.filter((bot) => bot !== first);
  const names = accountsOn(
    ownNameOf(name),
    others.map((bot) => textAt(bot, "name") ?? ""),
  );
  return [
    { name: ownNameOf(name), section: sectionOf(first) },
    ...others.map((bot, place) => ({ name: names[place] ?? "", section: sectionOf(bot) })),
  ];
}

/** A channel with our keys. */
function toChannel(name: string, section: JsonObject, problems: Problem[]): JsonObject {
  const dm = at(section, "dm", "allowFrom");
  const own = Array.isArray(section.allowFrom) ? section.allowFrom : [];
  const people = own.length === 0 && Array.isArray(dm) && dm.length > 0 ? { allowFrom: dm } : {};
  const ours = importsOf(name)?.fromNanobot?.(section) ?? {};
  return { ...section, ...people, ...ours, ...allowedGroups(name, section, problems) };
}

/** What was added, changed and removed while its gateway did not run is in a file beside the jobs, until it looks. */
async function addPendingJobs(stored: JsonObject, path: string, problems: Problem[]): Promise<JsonObject> {
  if (!(await isFile(path))) return stored;
  const all = Array.isArray(stored.jobs) ? stored.jobs : [];
  const jobs = new Map<unknown, unknown>(all.map((job, index) => [textAt(job, "id") ?? index, job]));
  const { rows, damaged } = await readJsonLines(path);
  if (damaged.length > 0) problems.push({ what: path, why: `lines that cannot be read: ${damaged.join(", ")}` });
  for (const row of rows) {
    const params = toCamelKeys(objectAt(row, "params"));
    const id = textAt(params, "id");
    if (row.action === "del") jobs.delete(textAt(params, "jobId"));
    else if (row.action !== undefined && id !== undefined) jobs.set(id, params);
  }
  return { ...stored, jobs: [...jobs.values()] };
}

/** Newer ones have a folder for each workspace, by the number that is in it; that of ours goes first. */
async function findSessionFolders(folder: string, workspace: string): Promise<readonly string[]> {
  const root = join(folder, "sessions");
  const own = (await readFile(join(workspace, ".nanobot", "workspace-id"), "utf8").catch(() => "")).trim();
  const others = (await namesIn(root)).filter((name) => /^[0-9a-f]{32}$/.test(name) && name !== own);
  const ids = [...(own === "" ? [] : [own]), ...others];
  return [...ids.map((id) => join(root, id)), join(workspace, "sessions"), root];
}

/** Newer ones keep their HISTORY.md as lines of JSON. */
async function findHistory(workspace: string): Promise<readonly FoundNote[]> {
  const from = join(workspace, "memory", "history.jsonl");
  const toText = (content: string): string =>
    parseJsonLines(content)
      .rows.map((row) => `[${textAt(row, "timestamp") ?? "?"}] ${textAt(row, "content") ?? ""}`)
      .join("\n\n");
  return (await isFile(from)) ? [{ from, to: "memory/HISTORY.md", toText }] : [];
}

/** With the model that counts in the place where ours is: the chosen preset's, and with the provider it is called at. */
function withModel(config: JsonObject): JsonObject {
  const defaults = objectAt(config, "agents", "defaults");
  const presetOf = (name: unknown): JsonObject => objectAt(config, "modelPresets", toCamel(String(name ?? "")));
  const labelOf = (from: JsonObject): string | undefined => {
    const model = textAt(from, "model");
    const named = toCamel(textAt(from, "provider") ?? "auto");
    const provider = named === "auto" ? onlyGateway(config) : named;
    if (model === undefined || provider === undefined) return model;
    return model.startsWith(`${provider}/`) ? model : `${providerName(provider)}/${model}`;
  };
  const chosen = { ...defaults, ...presetOf(defaults.modelPreset) };
  const fallbacks = (Array.isArray(defaults.fallbackModels) ? defaults.fallbackModels : []).flatMap(
    (one) => labelOf(isObject(one) ? one : presetOf(one)) ?? [],
  );
  const model = { model: labelOf(chosen), ...(fallbacks.length === 0 ? {} : { fallbacks }) };
  return { ...config, agents: { ...objectAt(config, "agents"), defaults: { ...chosen, ...model } } };
}

/** The one provider with a key, where it sells models of others: their names begin with their makers'. */
function onlyGateway(config: JsonObject): string | undefined {
  const keyed = Object.entries(objectAt(config, "providers")).filter(([, section]) => textAt(section, "apiKey"));
  const [[name] = []] = keyed;
  return keyed.length === 1 && name !== undefined && gateways.has(name) ? name : undefined;
}

const gateways = new Set(["siliconflow", "openrouter", "aihubmix", "huggingface", "novita", "modelscope", "nvidia"]);

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
        const named = textAt(head, "key") ?? name.slice(0, -".jsonl".length).replace("_", ":");
        // One conversation for all chats goes on where its owner wrote last.
        const key = named === "unified:default" ? (textAt(head, "metadata", "last_channel") ?? "unified") : named;
        const ours = chatKey(key) ?? toSessionKey(key, "nanobot");
        const entries = rows.filter((row) => row._type === undefined);
        const session = toSession(ours, path, { entries, damaged });
        if (session !== undefined) found.push(session);
        else problems.push({ what: path, why: "no message in it can be read" });
      } catch (error) {
        problems.push({ what: path, why: messageOf(error) });
      }
    }
  }
  return found;
}

/** `telegram:-100:topic:5` as our `telegram:-100:5`; undefined for keys of conversations that are not a platform's. */
function chatKey(key: string): string | undefined {
  const name = key.slice(0, key.indexOf(":"));
  const chat = importsOf(name)?.chatOf?.(key.slice(name.length + 1));
  return chat === undefined ? undefined : [name, ...chat].join(":");
}
