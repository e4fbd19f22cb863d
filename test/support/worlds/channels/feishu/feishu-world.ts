import type { Channel, OwnChannelContext } from "../../../../../src/channels/channel.js";
import { createFeishuChannel, type FeishuOptions } from "../../../../../src/channels/feishu/feishu.js";
import { silentLog } from "../../../../../src/log.js";
import { until } from "../../../engine/engine-kit.js";
import { type FakeFeishu, type FakeFeishuOptions, startFakeFeishu } from "../../../fakes/feishu/fake-feishu.js";
import { never, type RunningChannel, recordPublish, reply, startChannel } from "../channel-kit.js";
import { testContext } from "../over-fake.js";

export const ann = "ou_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
export const bob = "ou_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
export const group = "oc_5ad11d72b830411d72b836c20";

export interface FeishuWorld extends AsyncDisposable {
  readonly feishu: FakeFeishu;
  readonly context: OwnChannelContext;
  readonly gateway: ReturnType<typeof recordPublish>;
  /** A channel of its own with the same records, as after a restart. */
  open(more?: Partial<FeishuOptions>): Channel;
  /** A channel that listens and is connected. */
  start(channel: Channel): Promise<RunningChannel>;
  /** Resolves once so many messages were passed on. */
  heard(count: number): Promise<void>;
  /** Resolves once each event so far is answered with 200. */
  answered(): Promise<void>;
}

export async function openFeishuWorld(
  options: FakeFeishuOptions = {},
  more: Partial<OwnChannelContext> = {},
  gateway = recordPublish(),
): Promise<FeishuWorld> {
  const feishu = await startFakeFeishu(options);
  const context = testContext(more);
  const running: RunningChannel[] = [];
  return {
    feishu,
    context,
    gateway,
    open: (special = {}) => {
      const { appId, appSecret, url: apiRoot } = feishu;
      const limits = { firstDelayMs: 1, longestDelayMs: 5 };
      const common = { appId, appSecret, apiRoot, limits, spans: { busyRetryMs: 20 }, log: silentLog };
      return createFeishuChannel({ ...common, ...special }, context);
    },
    async start(channel) {
      const one = startChannel(channel, gateway.publish);
      running.push(one);
      await until("it is connected", () => one.connections() > 0, 10_000);
      return one;
    },
    heard: (count) => until(`${count} messages came`, () => gateway.messages.length >= count, 10_000),
    answered: () => until("all is answered", () => feishu.line.unanswered === 0, 10_000),
    async [Symbol.asyncDispose]() {
      for (const one of running) await one.stop();
      await feishu[Symbol.asyncDispose]();
    },
  };
}

/** Sends texts to a chat, each as a message of its own. */
export async function say(channel: Channel, chatId: string, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await channel.send(reply(chatId, text, { id: `out_${text}#1` }), never);
}
