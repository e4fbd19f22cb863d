import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../../engine/engine-kit.js";
import type { FakeDiscordMessage, FakeDiscordUser } from "../../fakes/discord/messages.js";
import { type FakeDiscord, startFakeDiscord } from "../../fakes/fake-discord.js";
import { startFakeOpenAI } from "../../fakes/models/fake-openai.js";
import { openAIConfig, tempHome } from "../gateway.js";
import type { AnswerScript, FakeModelServer } from "../model-script.js";
import { asRead } from "./discord-harness.js";
import { echo } from "./harness-world.js";

export const ann: FakeDiscordUser = { id: "100000000000000042", username: "ann" };
export const bob: FakeDiscordUser = { id: "100000000000000043", username: "bob" };

/** Discord, a model, and a home whose config joins them. */
export interface DiscordWorld extends AsyncDisposable {
  readonly discord: FakeDiscord;
  readonly model: FakeModelServer;
  readonly home: string;
  /** Resolves once a gateway listens to Discord. */
  online(): Promise<void>;
  /** Resolves with the bot's message in this channel that holds the text. */
  shown(channelId: string, text: string): Promise<FakeDiscordMessage>;
  /** What the bot has said in this channel. */
  said(channelId: string): readonly string[];
}

export async function openDiscordWorld(
  answer: AnswerScript = echo,
  config: Readonly<Record<string, unknown>> = {},
): Promise<DiscordWorld> {
  const discord = await startFakeDiscord({ token: "discord-world" });
  const model = await startFakeOpenAI({ answer });
  const home = await tempHome();
  const channels = { discord: { enabled: true, token: discord.token, apiRoot: discord.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels, ...config })));
  const said = (channelId: string) =>
    discord.sent.filter((one) => one.channelId === channelId).map(({ content }) => asRead(content));
  return {
    discord,
    model,
    home,
    online: () => until("it is online", () => discord.gateway.sockets.length > 0, 20_000),
    said,
    async shown(channelId, text) {
      const find = () => discord.sent.find((one) => one.channelId === channelId && asRead(one.content).includes(text));
      await until(`Discord shows ${text}`, () => find() !== undefined, 20_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it shows ${JSON.stringify(said(channelId))}`, { cause: error });
      });
      return find() as FakeDiscordMessage;
    },
    async [Symbol.asyncDispose]() {
      await discord[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}
