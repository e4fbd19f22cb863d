import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Payload } from "../../../../src/events/catalogue.js";
import type { StoredEvent } from "../../../../src/events/event.js";
import type { Tool } from "../../../../src/tools/tool.js";
import { until } from "../../engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../fakes/models/fake-openai.js";
import type { SentMessage } from "../../fakes/telegram/messages.js";
import { openAIConfig, startGateway, type TestGateway, tempHome } from "../gateway.js";
import type { AnswerScript, FakeModelServer, RecordedRequest, ScriptedAnswer } from "../model-script.js";

/** A model, Telegram and a gateway between them. */
export interface ChatWorld extends AsyncDisposable {
  readonly model: FakeModelServer;
  readonly telegram: FakeTelegram;
  readonly home: string;
  gateway: TestGateway;
  /** A text in a direct chat of this person. */
  say(chatId: number, text: string): void;
  /** A text to the bot in the group -100. */
  sayInGroup(userId: number, name: string, text: string): void;
  /** Resolves with the sent message that holds the text. */
  shown(text: string | RegExp): Promise<SentMessage>;
  press(message: SentMessage, label: string, userId: number, name?: string): void;
  /** Resolves with what was told about the presses once there are so many. */
  toasts(count: number): Promise<FakeTelegram["toasts"]>;
}

export const group = "telegram:-100";

export async function startWorld(
  answer: AnswerScript,
  options: { readonly config?: Record<string, unknown>; readonly tools?: readonly Tool[] } = {},
): Promise<ChatWorld> {
  const model = await startFakeOpenAI({ answer });
  const telegram = await startFakeTelegram({ token: "4242:human" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const config = openAIConfig(model.apiBase, { channels, owners: ["telegram:1"], ...options.config });
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  const gateway = await startGateway({ home, tools: options.tools });
  const world: ChatWorld = {
    model,
    telegram,
    home,
    gateway,
    say: (chatId, text) => void telegram.pushText({ chatId, userId: chatId, text }),
    sayInGroup(userId, name, text) {
      const replyTo = { messageId: 1, fromBot: true };
      telegram.pushText({ chatId: "-100", userId, name, text, chatType: "group", replyTo });
    },
    async shown(text) {
      const find = () =>
        telegram.sent.find((one) => (typeof text === "string" ? one.text.includes(text) : text.test(one.text)));
      await until(`Telegram shows ${text}`, () => find() !== undefined, 30_000);
      return find() as SentMessage;
    },
    press: (message, label, userId, name) =>
      void telegram.pushPress({ messageId: message.messageId, label, userId, ...(name === undefined ? {} : { name }) }),
    async toasts(count) {
      await until(`${count} presses are told`, () => telegram.toasts.length >= count, 10_000);
      return telegram.toasts;
    },
    async [Symbol.asyncDispose]() {
      await world.gateway[Symbol.asyncDispose]();
      await telegram.stop();
      await model[Symbol.asyncDispose]();
    },
  };
  return world;
}

/** The newest result of a tool that the model reads. */
export function lastResult(request: RecordedRequest | undefined): string {
  const messages = (request?.body.messages ?? []) as readonly { readonly role: string; readonly content?: unknown }[];
  return String(messages.findLast((message) => message.role === "tool")?.content ?? "");
}

/** How many results of tools are behind the newest message of a person. */
export function resultsIn(request: RecordedRequest): number {
  const roles = (request.body.messages as readonly { readonly role: string }[]).map(({ role }) => role);
  return roles.slice(roles.lastIndexOf("user")).filter((role) => role === "tool").length;
}

/** One call, then the answer "done: <result>". */
export function callThenDone(name: string, input: unknown): (request: RecordedRequest) => ScriptedAnswer {
  return (request) =>
    resultsIn(request) === 0
      ? { toolCalls: [{ id: `call_${request.index}`, name, input }] }
      : { text: `done: ${lastResult(request)}` };
}

export function askedIn(events: readonly StoredEvent[]): readonly Payload<"human_input_asked">[] {
  return events.flatMap((event) => (event.type === "human_input_asked" ? [event.payload] : []));
}

export function answeredIn(events: readonly StoredEvent[]): readonly Payload<"human_input_answered">[] {
  return events.flatMap((event) => (event.type === "human_input_answered" ? [event.payload] : []));
}

export function isAsked(event: { readonly type: string }): boolean {
  return event.type === "human_input_asked";
}
