import type { Channel, OwnChannelContext, PublishOutcome, ReceivedMessage } from "../../../src/channels/channel.js";
import type { ReceivingSpans } from "../../../src/channels/slack/receiving/receiving.js";
import { createSlackChannel } from "../../../src/channels/slack/slack.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { type FakeSlack, startFakeSlack } from "../../support/fakes/slack/fake-slack.js";
import { type RecordedPublish, recordPublish, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

/** Slack, and a channel that keeps its records, across runs. */
export interface SlackWorld extends AsyncDisposable {
  readonly slack: FakeSlack;
  readonly channel: Channel;
  readonly context: OwnChannelContext;
  readonly gateway: RecordedPublish;
  /** Runs it until the returned part is disposed; it is connected by then. */
  run(): Promise<AsyncDisposable>;
  /** Another channel on the same records, as after a restart. */
  again(): SlackWorld;
  came(...texts: readonly string[]): Promise<void>;
}

type Answer = (message: ReceivedMessage, nth: number) => PublishOutcome | Promise<PublishOutcome>;

export async function openSlackWorld(
  options: {
    readonly answer?: Answer;
    readonly spans?: Partial<ReceivingSpans>;
    readonly context?: Partial<OwnChannelContext>;
  } = {},
  slack?: FakeSlack,
): Promise<SlackWorld> {
  const fake = slack ?? (await startFakeSlack());
  const positions = new Map<string, string>();
  const context = testContext({ cursor: async (name) => positions.get(name), ...options.context });
  return worldOf(fake, context, positions, options);
}

function worldOf(
  slack: FakeSlack,
  context: OwnChannelContext,
  positions: Map<string, string>,
  {
    answer = () => ({ status: "accepted" }),
    spans = {},
  }: { readonly answer?: Answer; readonly spans?: Partial<ReceivingSpans> },
): SlackWorld {
  const { botToken, appToken, apiRoot } = slack;
  const channel = createSlackChannel(
    { botToken, appToken, apiRoot, spans: { busyRetryMs: 10, socket: { firstDelayMs: 5 }, ...spans }, log: silentLog },
    context,
  );
  const gateway = recordPublish(async (message, nth) => {
    const outcome = await answer(message, nth);
    const { cursor } = message;
    if (outcome.status === "accepted" && cursor !== undefined) positions.set(cursor.name, cursor.value);
    return outcome;
  });
  return {
    slack,
    channel,
    context,
    gateway,
    async run() {
      const running = startChannel(channel, gateway.publish);
      await until("it is connected", () => running.connections() > 0, 10_000);
      return running;
    },
    again: () => worldOf(slack, context, positions, { answer, spans }),
    async came(...texts) {
      await until(
        `${texts.join(", ")} came`,
        () => texts.every((text) => gateway.texts().includes(text)),
        10_000,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}; ${gateway.texts().join(", ")} came`, { cause: error });
      });
    },
    [Symbol.asyncDispose]: () => slack[Symbol.asyncDispose](),
  };
}
