import type { OutboundMessage } from "../../../../src/bus/messages.js";
import type { Channel, Publish, PublishOutcome, ReceivedMessage } from "../../../../src/channels/channel.js";
import { ChannelError } from "../../../../src/errors.js";

type Answer = (message: ReceivedMessage, nth: number) => PublishOutcome | Promise<PublishOutcome>;

export const accepted: PublishOutcome = { status: "accepted" };

export interface RecordedPublish {
  readonly publish: Publish;
  /** All that was passed on, repeats included. */
  readonly messages: readonly ReceivedMessage[];
  readonly texts: () => readonly string[];
}

/** The gateway's side of receiving: remembers what it gets and answers as told; by default takes everything. */
export function recordPublish(answer: Answer = () => accepted): RecordedPublish {
  const messages: ReceivedMessage[] = [];
  return {
    messages,
    texts: () => messages.map((message) => message.content),
    publish: async (message) => answer(message, messages.push(message)),
  };
}

export interface RunningChannel extends AsyncDisposable {
  /** Calls of `onConnected` so far. */
  readonly connections: () => number;
  /** Resolves with what `run` threw; undefined when it ended by itself. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export function startChannel(channel: Channel, publish: Publish): RunningChannel {
  const controller = new AbortController();
  let connections = 0;
  const ended = channel
    .run(
      publish,
      () => {
        connections += 1;
      },
      controller.signal,
    )
    .catch((error: unknown) => error);
  const stop = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  return { connections: () => connections, ended, stop, [Symbol.asyncDispose]: stop };
}

export function reply(chatId: string, content: string, more: Partial<OutboundMessage> = {}): OutboundMessage {
  return { id: "out_1#1", channel: "test", chatId, sessionKey: `test:${chatId}`, content, attachments: [], ...more };
}

export const never = new AbortController().signal;

/** How a send failed, secrets in any of its texts included. */
export async function failureOf(sending: Promise<unknown>): Promise<ChannelError> {
  const failure = await sending.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ChannelError)) throw new Error("It ended without a ChannelError", { cause: failure });
  return failure;
}

/** All that a log would show of an error. */
export function textsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, JSON.stringify(error), textsOf(error.cause)].join("\n");
}
