import { isRecord } from "../../../client/frames.js";
import { problemText } from "../../failures/said.js";
import { type Api, type JsonObject, Refused, recordsIn, textIn } from "../../gateway/api.js";

export type Verdict = "allow" | "ask" | "deny";
export type Mode = "safe" | "ask" | "auto";

/** One rule of the config. What is absent matches everything. */
export type Rule = Readonly<Record<string, string>>;

export interface Rules {
  readonly rules: readonly Rule[];
  readonly mode: Mode;
  /** Of rules that can never allow what they are written for, by their place. */
  readonly problems: ReadonlyMap<number, string>;
  /** Named with a change. */
  readonly mark: string;
}

export interface Grant {
  readonly id: string;
  readonly tool: string;
  readonly argument: string;
  readonly chat: string;
  readonly whose: string;
  readonly by: string;
  readonly at: string;
  readonly isOld: boolean;
}

export interface ToolView {
  readonly name: string;
  readonly description: string;
  readonly isOn: boolean;
  readonly canSwitch: boolean;
}

export interface Sandbox {
  readonly state: "checking" | "off" | "ready" | "unavailable";
  readonly name: string;
  readonly reason: string;
  readonly bare: "ask" | "unasked" | "none";
}

export async function readRules(api: Api): Promise<Rules> {
  return rulesIn(await api.response("GET", "api/policy/rules"));
}

/** Resolves with what is in force then. */
export async function saveRules(api: Api, rules: readonly Rule[], mark: string): Promise<Rules> {
  return rulesIn(await api.response("PUT", "api/policy/rules", { rules }, { headers: { "if-match": mark } }));
}

export async function saveMode(api: Api, executionMode: Mode, mark: string): Promise<Rules> {
  return rulesIn(await api.response("PUT", "api/policy/mode", { executionMode }, { headers: { "if-match": mark } }));
}

async function rulesIn(answer: Response): Promise<Rules> {
  const { rules, executionMode, problems }: JsonObject = await answer.json();
  const mode = executionMode === "safe" || executionMode === "auto" ? executionMode : "ask";
  const said = (Array.isArray(problems) ? problems : []).flatMap((problem) => {
    const [, index = "", sentence = ""] =
      /^policy\.rules\[(\d+)\] (?:allows no command: )?(.*)$/s.exec(textIn(problem)) ?? [];
    return index === "" ? [] : [[Number(index), sentence] as const];
  });
  return {
    rules: recordsIn(rules).map(textsOf),
    mode,
    problems: new Map(said),
    mark: answer.headers.get("etag") ?? "",
  };
}

function textsOf(record: JsonObject): Rule {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, textIn(value)]));
}

export async function readGrants(api: Api): Promise<readonly Grant[]> {
  const { grants } = await api.get("api/policy");
  return recordsIn(grants).map((grant) => ({
    id: textIn(grant.id),
    tool: textIn(grant.tool),
    argument: textIn(grant.argument),
    chat: textIn(grant.chat),
    whose: textIn(grant.for),
    by: textIn(grant.grantedBy),
    at: textIn(grant.grantedAt),
    isOld: grant.isOld === true,
  }));
}

export async function revokeGrant(api: Api, id: string): Promise<void> {
  await api.delete(`api/policy/grants/${encodeURIComponent(id)}`);
}

export async function readTools(api: Api): Promise<readonly ToolView[]> {
  return recordsIn((await api.get("api/tools")).tools).map(({ name, description, isOn, canSwitch }) => ({
    name: textIn(name),
    description: textIn(description),
    isOn: isOn === true,
    canSwitch: canSwitch === true,
  }));
}

/** Resolves with true when it counts from the next start on. */
export async function switchTool(api: Api, name: string, isOn: boolean): Promise<boolean> {
  const { restart } = await api.put(`api/tools/${encodeURIComponent(name)}`, { isOn }, { timeoutMs: 30_000 });
  return Array.isArray(restart) && restart.some((key) => textIn(key).startsWith(`tools.${name}`));
}

export async function readSandbox(api: Api): Promise<Sandbox | undefined> {
  const { sandbox } = await api.get("api/status");
  if (!isRecord(sandbox)) return undefined;
  const { state, bare } = sandbox;
  return {
    state: state === "ready" || state === "off" || state === "unavailable" ? state : "checking",
    name: textIn(sandbox.name),
    reason: problemText(textIn(sandbox.reason)),
    bare: bare === "unasked" || bare === "none" ? bare : "ask",
  };
}

export type TrialKind = "command" | "read" | "write" | "fetch" | "call";

export interface Trial {
  readonly kind: TrialKind;
  readonly argument: string;
  readonly tool?: string;
  readonly role: "owner" | "guest";
  readonly chat: "dm" | "group";
  readonly hasNetwork: boolean;
}

export interface TrialResult {
  readonly verdict: Verdict;
  readonly because: string;
  readonly isByRule: boolean;
  readonly approver: "asker" | "owner";
  readonly isSandboxed: boolean;
}

/** Asks the gateway's policy. Nothing is done. */
export async function tryPolicy(api: Api, trial: Trial): Promise<TrialResult> {
  const { verdict, because, isByRule, approver, isSandboxed } = await api.post("api/policy/test", trial);
  return {
    verdict: verdict === "allow" || verdict === "deny" ? verdict : "ask",
    because: textIn(because),
    isByRule: isByRule === true,
    approver: approver === "owner" ? "owner" : "asker",
    isSandboxed: isSandboxed === true,
  };
}

export function isChanged(error: unknown): boolean {
  return error instanceof Refused && error.code === "changed";
}
