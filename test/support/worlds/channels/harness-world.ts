import type { Tool } from "../../../../src/tools/tool.js";
import { until } from "../../engine/engine-kit.js";
import { startFakeOpenAI } from "../../fakes/models/fake-openai.js";
import { openAIConfig, startGateway, type TestGateway } from "../gateway.js";
import type { AnswerScript, FakeModelServer, RecordedRequest, ScriptedAnswer } from "../model-script.js";
import type { ChannelHarness, HarnessPerson, ShownMessage } from "./channel-harness.js";

/** A harness, a model and a gateway between them. */
export interface HarnessWorld extends AsyncDisposable {
  readonly harness: ChannelHarness;
  readonly model: FakeModelServer;
  gateway: TestGateway;
  /** Another gateway on the same home. */
  restart(graceMs?: number): Promise<void>;
  /** Resolves with the message of the assistant in this chat that holds the text. */
  seen(chatId: string, text: string | RegExp, thread?: string): Promise<ShownMessage>;
  /** Resolves once nothing waits to be worked on or to be sent. */
  quiet(): Promise<void>;
  keyOf(person: HarnessPerson, thread?: string): string;
}

export interface HarnessWorldOptions {
  readonly answer?: AnswerScript;
  /** Default `["*"]`. */
  readonly allowFrom?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly Tool[];
  /** Default 1000. */
  readonly sendTimeoutMs?: number;
}

/** The last line of what a person wrote: in front of it is what the gateway adds. */
export function wordsOf(request: RecordedRequest): string {
  return request.userText.split("\n\n").at(-1) ?? "";
}

/** A model that says back what it was told. */
export const echo = (request: RecordedRequest): ScriptedAnswer => ({ text: `You said: ${wordsOf(request)}` });

const limitMs = 15_000;

export async function openHarnessWorld(
  openHarness: () => Promise<ChannelHarness>,
  { answer = echo, allowFrom = ["*"], config = {}, tools, sendTimeoutMs = 3000 }: HarnessWorldOptions = {},
): Promise<HarnessWorld> {
  const harness = await openHarness();
  const model = await startFakeOpenAI({ answer });
  const channels = { [harness.channel]: { enabled: true, allowFrom, ...harness.config } };
  const gateway = await startGateway({
    config: openAIConfig(model.apiBase, { channels, ...config }),
    tools,
    sendTimeoutMs,
    sendRetryMs: 50,
  });
  const world: HarnessWorld = {
    harness,
    model,
    gateway,
    keyOf: ({ chatId }, thread) => [harness.channel, chatId, ...(thread === undefined ? [] : [thread])].join(":"),
    async restart(graceMs = 0) {
      world.gateway = await world.gateway.restart(undefined, graceMs);
    },
    async seen(chatId, text, thread) {
      const find = (): ShownMessage | undefined =>
        harness
          .shown(chatId, thread)
          .find((one) => (typeof text === "string" ? one.text.includes(text) : text.test(one.text)));
      await until(`${chatId} sees ${text}`, () => find() !== undefined, limitMs).catch((error: unknown) => {
        const shown = harness.shown(chatId, thread).map((one) => one.text);
        throw new Error(`${String(error)}; it shows ${JSON.stringify(shown)}`, { cause: error });
      });
      return find() as ShownMessage;
    },
    quiet: () =>
      until(
        "nothing waits",
        async () => {
          const { inboundWaiting, outboundWaiting } = await world.gateway.gateway.api.status();
          return inboundWaiting + outboundWaiting === 0;
        },
        limitMs,
      ),
    async [Symbol.asyncDispose]() {
      await world.gateway[Symbol.asyncDispose]();
      await harness[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
  return world;
}
