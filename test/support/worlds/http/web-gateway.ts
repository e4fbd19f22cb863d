import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import { noUsage } from "../../../../src/events/content.js";
import { draft, type EventDraft } from "../../../../src/events/event.js";
import { silentLog } from "../../../../src/log.js";
import { createSessionFiles } from "../../../../src/sessions/file-names.js";
import { startFakeOpenAI } from "../../fakes/models/fake-openai.js";
import { openAIConfig, startGateway, tempHome } from "../gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../model-script.js";
import { answersTo } from "./web-answers.js";

export interface Backend {
  /** Where the page is. */
  readonly url: string;
  readonly home: string;
  /** What `/api/status` names as wrong. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

export interface BackendOptions {
  readonly token?: string;
  /** Default: what `web-answers.ts` has. */
  readonly answer?: (request: RecordedRequest) => ScriptedAnswer;
  /** More of the config. */
  readonly config?: Record<string, unknown>;
  /** No model and a channel without its token. */
  readonly isUnfinished?: boolean;
  /** Sessions that exist already, each with so many questions and answers. */
  readonly history?: Readonly<Record<string, number>>;
}

/** A whole gateway with the built page, and a model that plays `web-answers.ts`. */
export async function startBackend(options: BackendOptions = {}): Promise<Backend> {
  const model = await startFakeOpenAI({ answer: options.answer ?? nextAnswer });
  const home = await tempHome();
  for (const [key, turns] of Object.entries(options.history ?? {})) await writeHistory(home, key, turns);
  const gateway = options.token === undefined ? {} : { token: options.token };
  const config = options.isUnfinished
    ? { gateway, channels: { telegram: { enabled: true } } }
    : openAIConfig(model.apiBase, { gateway, ...options.config });
  // Its past is made up.
  const running = await startGateway({ config, home, isRuled: false });
  return {
    url: running.gateway.pageUrl,
    home,
    problems: (await running.gateway.api.status()).problems,
    async stop() {
      await running[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The answer to the newest user message, by how often the model has been asked for it. */
function nextAnswer(request: RecordedRequest): ScriptedAnswer {
  const messages = Array.isArray(request.body.messages) ? request.body.messages : [];
  const roles = messages.map((message: { readonly role?: unknown }) => message.role);
  const round = roles.slice(roles.lastIndexOf("user")).filter((role) => role === "assistant").length;
  const written = request.userText.slice(request.userText.lastIndexOf("\n\n") + 2);
  return answersTo(written)[round] ?? { text: "That is all." };
}

/** Turns as an earlier gateway would have left them in the session's log. */
async function writeHistory(home: string, key: string, turns: number): Promise<void> {
  const files = createSessionFiles(join(home, "workspace", ".sessions"));
  const engine = await openEmbeddedEngine({
    home,
    logs: { pathOf: files.logPath },
    publish: () => undefined,
    instanceId: "gw_history",
    log: silentLog,
  });
  // Each append is a line of the journal.
  const drafts = Array.from({ length: turns }, (_, index) => turnEvents(index + 1)).flat();
  for (let at = 0; at < drafts.length; at += 2000)
    await engine.append(key, drafts.slice(at, at + 2000), { durable: false });
  await engine[Symbol.asyncDispose]();
}

function turnEvents(turn: number): EventDraft[] {
  const message_id = `msg_${turn}`;
  const content = [{ type: "text" as const, text: `Question ${turn}` }];
  const answer = [{ type: "text" as const, text: `Answer **${turn}**\n\nwith a second paragraph.` }];
  const context = { source: "agent", turn_id: `turn_${turn}` };
  const from = { channel: "webui", chat_id: "0000beef", sender_id: "owner" };
  const flags = { stop_reason: "end_turn" as const, usage: noUsage, final: true, partial: false };
  const counts = { iterations: 1, usage: noUsage, duration_ms: 1, tool_calls: [], errors: [] };
  return [
    draft(
      "user_message_queued",
      { message_id, ...from, content, mode: "next", position: 0 },
      { source: "channel:webui" },
    ),
    draft("turn_execution_start", { message_ids: [message_id], queued_ms: 0, attempt: 1 }, context),
    draft("user_message", { message_id, content, iteration: 1 }, context),
    draft(
      "assistant_message",
      { message_id: `ans_${turn}`, content: answer, model: "m", iteration: 1, ...flags },
      context,
    ),
    draft(
      "turn_execution_complete",
      { message_ids: [message_id], message_id: `ans_${turn}`, stop_reason: "end_turn", ...counts },
      context,
    ),
  ];
}
