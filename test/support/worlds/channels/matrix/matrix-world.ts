import type { OwnChannelContext, PublishOutcome, ReceivedMessage } from "../../../../../src/channels/channel.js";
import { MatrixChannel, type MatrixOptions } from "../../../../../src/channels/matrix/matrix.js";
import { silentLog } from "../../../../../src/log.js";
import { until } from "../../../engine/engine-kit.js";
import { type FakeMatrix, startFakeMatrix } from "../../../fakes/matrix/fake-matrix.js";
import { type RecordedPublish, type RunningChannel, recordPublish, startChannel } from "../channel-kit.js";
import { testContext } from "../over-fake.js";

export const ann = "@ann:example.org";
export const bob = "@bob:example.org";
export const eve = "@eve:elsewhere.example";

type Answer = (message: ReceivedMessage, nth: number) => PublishOutcome | Promise<PublishOutcome>;

/** A homeserver, and channels to it that share their records, as one has them across restarts. */
export interface MatrixWorld extends AsyncDisposable {
  readonly matrix: FakeMatrix;
  readonly context: OwnChannelContext;
  /** What was passed on by all channels. */
  readonly gateway: RecordedPublish;
  open(more?: Partial<MatrixOptions>): MatrixChannel;
  /** Runs a channel; it is connected by then. */
  run(channel?: MatrixChannel): Promise<RunningChannel>;
  /** Resolves once exactly these were passed on, in this order. */
  came(...texts: readonly string[]): Promise<void>;
}

export async function openMatrixWorld(
  options: { readonly answer?: Answer; readonly context?: Partial<OwnChannelContext> } = {},
): Promise<MatrixWorld> {
  const matrix = await startFakeMatrix();
  const context = testContext(options.context);
  const gateway = recordPublish(options.answer);
  const running: RunningChannel[] = [];
  const world: MatrixWorld = {
    matrix,
    context,
    gateway,
    open(more = {}) {
      const { url: homeserver, token: accessToken } = matrix;
      return new MatrixChannel(
        { homeserver, accessToken, spans: { busyRetryMs: 10 }, log: silentLog, ...more },
        context,
      );
    },
    async run(channel = world.open()) {
      const one = startChannel(channel, gateway.publish);
      running.push(one);
      await until("it is connected", () => one.connections() > 0, 30_000);
      return one;
    },
    came: (...texts) =>
      until(`${texts.join(", ")} came`, () => gateway.texts().join("\n") === texts.join("\n"), 10_000).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}; these came: ${gateway.texts().join(", ")}`, { cause: error });
        },
      ),
    async [Symbol.asyncDispose]() {
      for (const one of running) await one.stop();
      await matrix[Symbol.asyncDispose]();
    },
  };
  return world;
}
