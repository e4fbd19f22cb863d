import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../../../engine/engine-kit.js";
import { startFakeOpenAI } from "../../../fakes/models/fake-openai.js";
import { openAIConfig, tempHome } from "../../gateway.js";
import type { AnswerScript, FakeModelServer } from "../../model-script.js";
import type { ChannelHarness } from "../channel-harness.js";
import { echo } from "../harness-world.js";
import { openAsAccount } from "./account-harness.js";

/** Two accounts on one platform, each at a far side of its own, and a model behind the gateway of this home. */
export interface TwoAccounts extends AsyncDisposable {
  readonly first: ChannelHarness;
  readonly second: ChannelHarness;
  readonly model: FakeModelServer;
  readonly home: string;
  /** Writes the config file again. `more` goes into the section of the second account. */
  write(config?: Readonly<Record<string, unknown>>, more?: Readonly<Record<string, unknown>>): Promise<void>;
  /** What the assistant has shown to the first person of an account. */
  shown(account: ChannelHarness): readonly string[];
  /** Resolves once it has shown this to the first person of the account. */
  seen(account: ChannelHarness, text: string): Promise<void>;
}

const limitMs = 20_000;

/** `name`: that of the second account; the first one has the platform's. */
export async function openTwoAccounts(
  open: (word?: string) => Promise<ChannelHarness>,
  name: string,
  answer: AnswerScript = echo,
): Promise<TwoAccounts> {
  const [first, second] = [await open(), await openAsAccount(() => open("other"), name)];
  const model = await startFakeOpenAI({ answer });
  const home = await tempHome();
  const shown = ({ people, shown: shownIn }: ChannelHarness): readonly string[] =>
    shownIn(people[0].chatId).map(({ text }) => text);
  const world: TwoAccounts = {
    ...{ first, second, model, home, shown },
    async write(config = {}, more = {}) {
      const channels = {
        [first.channel]: { enabled: true, allowFrom: ["*"], ...first.config },
        [second.channel]: { enabled: true, allowFrom: ["*"], ...second.config, ...more },
      };
      await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels, ...config })));
    },
    seen: (account, text) =>
      until(`${account.channel} shows ${text}`, () => shown(account).some((one) => one.includes(text)), limitMs),
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
  await world.write();
  return world;
}
