import { isRecord } from "../../../client/frames.js";
import { problemText } from "../../failures/said.js";
import { type Api, type JsonObject, Refused, recordsIn, textIn } from "../../gateway/api.js";
import { readSettings, sectionAt, textsAt } from "../setup/settings.js";
import { mcpWords } from "./words.js";

export interface Server {
  readonly name: string;
  readonly state: "connecting" | "connected" | "reconnecting" | "idle" | "off";
  readonly since: string;
  readonly reason: string;
  readonly wants: string;
  readonly endpoint: string;
  readonly tools: readonly string[];
  /** As the config has it; undefined: it is written elsewhere than where the page writes. */
  readonly section: Section | undefined;
}

/** A server as the config shows it: of secrets only the names. */
export interface Section {
  readonly isOn: boolean;
  readonly kind: "command" | "url";
  readonly command: string;
  readonly args: readonly string[];
  readonly url: string;
  /** Names of variables, or of headers. */
  readonly secrets: readonly string[];
  readonly isTrusted: boolean;
  readonly disabledTools: readonly string[];
}

export interface Known {
  readonly servers: readonly Server[];
  /** Named with a change. */
  readonly mark: string;
}

export async function readServers(api: Api): Promise<Known> {
  const [{ config, mark }, answer] = await Promise.all([readSettings(api), api.get("api/mcp")]);
  const sections = sectionAt(config, "tools", "mcpServers");
  const live = new Map(recordsIn(answer.servers).map((server) => [textIn(server.name), server]));
  const names = [...new Set([...Object.keys(sections), ...live.keys()])].sort();
  return { mark, servers: names.map((name) => toServer(name, live.get(name), sections[name])) };
}

function toServer(name: string, live: JsonObject | undefined, section: unknown): Server {
  const states = ["connecting", "connected", "reconnecting", "idle"] as const;
  return {
    name,
    state: states.find((state) => state === live?.state) ?? "off",
    since: textIn(live?.since),
    reason: textIn(live?.reason),
    wants: textIn(live?.wants),
    endpoint: textIn(live?.endpoint),
    tools: live === undefined ? [] : textsAt(live, "tools"),
    section: isRecord(section) ? toSection(section) : undefined,
  };
}

function toSection(section: JsonObject): Section {
  const kind = textIn(section.url) === "" ? "command" : "url";
  return {
    isOn: section.enabled !== false && section.disabled !== true,
    kind,
    command: textIn(section.command),
    args: textsAt(section, "args"),
    url: textIn(section.url),
    secrets: Object.keys(sectionAt(section, kind === "command" ? "env" : "headers")),
    isTrusted: section.trusted === true,
    disabledTools: textsAt(section, "disabledTools"),
  };
}

/** A secret as the reader has it in the form. An empty value of one that is stored leaves it as it is. */
export interface SecretEntry {
  readonly name: string;
  readonly value: string;
  readonly isStored: boolean;
}

export interface Entry {
  readonly name: string;
  readonly kind: "command" | "url";
  readonly command: string;
  /** One in each line. */
  readonly args: string;
  readonly url: string;
  readonly secrets: readonly SecretEntry[];
  readonly isTrusted: boolean;
}

/** What the gateway understands as the value that is there. */
const stored = "********";

/** `before`: names that are stored; those that are not in the entry any more are taken away. */
function toWire({ kind, command, args, url, secrets, isTrusted }: Entry, before: readonly string[]): JsonObject {
  const kept = Object.fromEntries(
    secrets
      .filter(({ name }) => name.trim() !== "")
      .map(({ name, value, isStored }) => [name.trim(), value === "" && isStored ? stored : value]),
  );
  const gone = Object.fromEntries(before.filter((name) => !(name in kept)).map((name) => [name, null]));
  const values = { ...gone, ...kept };
  const lines = args.split("\n").filter((line) => line !== "");
  return kind === "command"
    ? { command: command.trim(), args: lines, env: values, trusted: isTrusted }
    : { url: url.trim(), headers: values, trusted: isTrusted };
}

/** Resolves with its tools. Nothing is written. @throws {Error} why it cannot be used */
export async function tryServer(api: Api, entry: Entry, before: readonly string[]): Promise<readonly string[]> {
  assertWritable(entry);
  const wire = withoutGone(toWire(entry, before));
  return toolsIn(await api.post("api/mcp/try", { name: entry.name.trim(), ...wire }, { timeoutMs: 60_000 }));
}

/** For what is new nothing is there to be taken away. */
function withoutGone(wire: JsonObject): JsonObject {
  const present = (value: unknown): unknown =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null)) : value;
  return Object.fromEntries(Object.entries(wire).map(([key, value]) => [key, present(value)]));
}

export async function testServer(api: Api, name: string): Promise<readonly string[]> {
  return toolsIn(await api.post(`${pathOf(name)}/test`, {}, { timeoutMs: 60_000 }));
}

function toolsIn(answer: JsonObject): readonly string[] {
  if (answer.ok === true) return textsAt(answer, "tools");
  throw new Error(mcpWords.t("cannot", { reason: problemText(textIn(answer.error)) }));
}

/** @throws {Error} what is wrong with what was typed */
function assertWritable({ name, kind, command, url }: Entry): void {
  const { t } = mcpWords;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/.test(name.trim())) throw new Error(t("nameWrong"));
  if (kind === "command" && command.trim() === "") throw new Error(t("commandMissing"));
  if (kind === "url" && !/^https?:\/\/\S+$/i.test(url.trim())) throw new Error(t("urlWrong"));
}

export async function addServer(api: Api, entry: Entry): Promise<void> {
  await api.post("api/mcp", { name: entry.name.trim(), ...withoutGone(toWire(entry, [])) }, { timeoutMs: 30_000 });
}

export async function changeServer(api: Api, entry: Entry, before: readonly string[], mark: string): Promise<void> {
  const options = { headers: { "if-match": mark }, timeoutMs: 30_000 };
  await api.put(pathOf(entry.name), toWire(entry, before), options);
}

export async function switchServer(api: Api, name: string, isOn: boolean): Promise<void> {
  await api.post(`${pathOf(name)}/${isOn ? "enable" : "disable"}`, {}, { timeoutMs: 30_000 });
}

export async function switchServerTool(api: Api, server: Server, tool: string, isOn: boolean): Promise<void> {
  const off = server.section?.disabledTools ?? [];
  const disabledTools = isOn ? off.filter((one) => one !== tool) : [...off, tool];
  await api.put(pathOf(server.name), { disabledTools }, { timeoutMs: 30_000 });
}

export async function reconnectServer(api: Api, name: string): Promise<void> {
  await api.post(`${pathOf(name)}/reconnect`, {});
}

export async function removeServer(api: Api, name: string): Promise<void> {
  await api.delete(pathOf(name), { timeoutMs: 30_000 });
}

export interface Login {
  readonly state: "none" | "waiting" | "done" | "failed";
  readonly url: string;
  readonly comesBackTo: string;
  readonly scope: string;
  readonly wasNeeded: boolean;
  readonly reason: string;
}

export async function beginLogin(api: Api, name: string): Promise<Login> {
  return toLogin(await api.post(`${pathOf(name)}/login`, {}, { timeoutMs: 60_000 }));
}

export async function loginState(api: Api, name: string): Promise<Login> {
  return toLogin(await api.get(`${pathOf(name)}/login`));
}

export async function finishLogin(api: Api, name: string, address: string): Promise<Login> {
  return toLogin(await api.post(`${pathOf(name)}/login/finish`, { address }, { timeoutMs: 60_000 }));
}

export async function endLogin(api: Api, name: string): Promise<void> {
  await api.delete(`${pathOf(name)}/login`);
}

function toLogin({ state, url, comesBackTo, scope, wasNeeded, reason }: JsonObject): Login {
  return {
    state: state === "waiting" || state === "done" || state === "failed" ? state : "none",
    url: textIn(url),
    comesBackTo: textIn(comesBackTo),
    scope: textIn(scope),
    wasNeeded: wasNeeded === true,
    reason: textIn(reason),
  };
}

export function isChanged(error: unknown): boolean {
  return error instanceof Refused && error.code === "changed";
}

function pathOf(name: string): string {
  return `api/mcp/${encodeURIComponent(name)}`;
}
