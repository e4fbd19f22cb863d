import { randomBytes } from "node:crypto";
import type { Engine } from "../../engine/engine.js";
import { messageOf, RequestError } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { cutText } from "../../util/text/cut-text.js";
import { checkKey } from "../messages/send-request.js";
import type { SessionsApi } from "./sessions-api.js";
import { checkWorkingFolder } from "./working-folder.js";

export interface BeginningPorts {
  readonly engine: Pick<Engine, "append">;
  readonly sessions: Pick<SessionStore, "exists" | "open">;
  /** @throws when there is no such model; the message says what to change */
  readonly chooseModel: (label: string, signal: AbortSignal) => Promise<unknown>;
  readonly workspace: string;
}

type SessionOptions = Parameters<SessionsApi["createSession"]>[0];

export const maxTitleChars = 200;

/** Begins a session with its settings, unless there is one of this key. */
export async function beginSession(
  { engine, sessions, chooseModel, workspace }: BeginningPorts,
  options: SessionOptions,
): ReturnType<SessionsApi["createSession"]> {
  const { key = `webui:${randomBytes(4).toString("hex")}`, model, cwd } = options;
  checkKey(key);
  if (await sessions.exists(key)) return { key, reused: true };
  if (model !== undefined) await checkModel(chooseModel, model);
  if (cwd !== undefined) await checkWorkingFolder(cwd, workspace);
  await sessions.open(key);
  await engine.append(key, firstEvents(options), { durable: true });
  return { key, reused: false };
}

export function titleEvent(title: string): EventDraft {
  return draft(
    "session_title_generated",
    { title: cutText(title.trim(), maxTitleChars), generated_by: "user" },
    { source: "client" },
  );
}

function firstEvents({ title = "", model, cwd }: SessionOptions): readonly EventDraft[] {
  const created = { from: "none", to: "created", reason: "client" };
  return [
    draft("session_state_changed", created, { source: "client" }),
    ...(title.trim() === "" ? [] : [titleEvent(title)]),
    ...settingEvents("model", model),
    ...settingEvents("cwd", cwd),
  ];
}

function settingEvents(key: string, to: string | undefined): readonly EventDraft[] {
  return to === undefined ? [] : [draft("settings_changed", { scope: "session", key, to }, { source: "client" })];
}

async function checkModel(chooseModel: BeginningPorts["chooseModel"], label: string): Promise<void> {
  try {
    await chooseModel(label, new AbortController().signal);
  } catch (error) {
    throw new RequestError(messageOf(error), { status: 400, code: "bad_request", cause: error });
  }
}
