import type { OwnChannelContext } from "../../../../src/channels/channel.js";
import { QqChannel, type QqOptions } from "../../../../src/channels/qq/qq.js";
import { silentLog } from "../../../../src/log.js";
import { until } from "../../engine/engine-kit.js";
import { type FakeQq, type FakeQqOptions, startFakeQq } from "../../fakes/qq/fake-qq.js";
import { never, type RunningChannel, recordPublish, reply, startChannel } from "./channel-kit.js";
import { testContext } from "./over-fake.js";

export const ann = "E4F4AEA33253A2797FB897C50B81D7ED";
export const group = "C9F778FE6ADF9D1D1DBE395BF744A33A";

export interface QqWorld extends AsyncDisposable {
  readonly qq: FakeQq;
  readonly context: OwnChannelContext;
  readonly gateway: ReturnType<typeof recordPublish>;
  /** A channel of its own with the same records, as after a restart. */
  open(more?: Partial<QqOptions>): QqChannel;
  /** A channel that listens and is connected. */
  start(channel: QqChannel): Promise<RunningChannel>;
  /** Resolves once so many messages were passed on. */
  heard(count: number): Promise<void>;
  /** Resolves once it is durable how to answer in this chat. */
  kept(chatId: string): Promise<void>;
}

export async function openQqWorld(
  options: FakeQqOptions = {},
  more: Partial<OwnChannelContext> = {},
  gateway = recordPublish(),
): Promise<QqWorld> {
  const qq = await startFakeQq(options);
  const context = testContext(more);
  const running: RunningChannel[] = [];
  return {
    qq,
    context,
    gateway,
    open: (special = {}) => {
      const { appId, appSecret, url } = qq;
      const limits = { firstDelayMs: 1, longestDelayMs: 5 };
      const common = { appId, appSecret, apiRoot: url, tokenRoot: url, limits, busyRetryMs: 20, log: silentLog };
      return new QqChannel({ ...common, ...special }, context);
    },
    async start(channel) {
      const one = startChannel(channel, gateway.publish);
      running.push(one);
      await until("it is connected", () => one.connections() > 0, 10_000);
      return one;
    },
    heard: (count) => until(`${count} messages came`, () => gateway.messages.length >= count, 10_000),
    kept: (chatId) => until("it is kept", () => context.records.get(`chat:${chatId}`) !== undefined, 10_000),
    async [Symbol.asyncDispose]() {
      for (const one of running) await one.stop();
      await qq[Symbol.asyncDispose]();
    },
  };
}

/** Sends texts to a chat, each as a message of its own. */
export async function say(channel: QqChannel, chatId: string, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await channel.send(reply(chatId, text, { id: `out_${text}#1` }), never);
}
