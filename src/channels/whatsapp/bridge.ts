import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import { keepSocket, type OpenSocket, type SocketLimits } from "../wire/socket.js";
import { type BridgeFrame, parseFrame } from "./frames.js";

export interface BridgeOptions {
  readonly bridgeUrl: string;
  readonly bridgeToken?: string | undefined;
  readonly log: Logger;
}

const title = "the WhatsApp bridge";
const wrongToken = 4003;
const noToken = 4001;

/** What the bridge closes a connection for. */
function closedFor({ bridgeToken }: BridgeOptions, code: number): ChannelError | undefined {
  const key = "channels.whatsapp.bridgeToken";
  if (code === noToken || (code === wrongToken && bridgeToken === undefined))
    return new ChannelError(`The WhatsApp bridge wants a token. Set ${key} to its BRIDGE_TOKEN.`);
  if (code === wrongToken)
    return new ChannelError(
      `The WhatsApp bridge does not take the token. Correct ${key}: it is the bridge's BRIDGE_TOKEN.`,
    );
  return undefined;
}

/** Without a token nothing is said: a bridge that wants one closes the connection. */
async function logIn(socket: OpenSocket, { bridgeToken }: BridgeOptions): Promise<void> {
  if (bridgeToken !== undefined) await socket.send(JSON.stringify({ type: "auth", token: bridgeToken }));
}

/** Hears all that the bridge says, until `signal` aborts. @throws {ChannelError} */
export async function listenToBridge(
  options: BridgeOptions,
  limits: Partial<SocketLimits>,
  hear: {
    readonly onFrame: (frame: BridgeFrame, socket: OpenSocket) => void;
    readonly onOpen: () => void;
    readonly onAlive: () => void;
  },
  signal: AbortSignal,
): Promise<void> {
  const { bridgeUrl, log } = options;
  const onMessage = (data: Buffer, _isText: boolean, socket: OpenSocket): void => {
    const frame = parseFrame(data);
    if (frame === undefined) log.debug("the WhatsApp bridge has said something that is not known here");
    else hear.onFrame(frame, socket);
  };
  const onOpen = (socket: OpenSocket): void => {
    hear.onOpen();
    logIn(socket, options).catch(() => socket.renew());
  };
  const onClosed = (code: number) => closedFor(options, code);
  const address = async (): Promise<string> => bridgeUrl;
  await keepSocket({ title, address, onMessage, onOpen, onAlive: hear.onAlive, onClosed, limits, log }, signal);
}

/** One message, and what is asked about it. */
export interface BridgeSend {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly file?: {
    readonly name: string;
    readonly mimeType: string;
    readonly upload?: string;
    readonly isVoice?: boolean;
  };
}

type Answer = Extract<BridgeFrame, { readonly type: "sent" | "error" | "found" }>;

/**
 * Sends one message on a connection of its own: an answer of the Go maxclaw's bridge does not say which one it is about.
 * Resolves with the message's id where the bridge tells it.
 *
 * @throws {ChannelError}
 */
export async function sendByBridge(
  options: BridgeOptions,
  message: BridgeSend,
  ms: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await ask(options, { type: "send", ...message }, ms, signal);
  if (answer.type !== "error") return answer.messageId;
  throw refusalOf(answer);
}

/** Asks our own bridge whether WhatsApp has the message; undefined where it is not certain. @throws {ChannelError} */
export async function findByBridge(
  options: BridgeOptions,
  message: BridgeSend,
  ms: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await ask(options, { type: "find", ...message }, ms, signal);
  return answer.type === "found" ? answer.messageId : undefined;
}

async function ask(
  options: BridgeOptions,
  command: BridgeSend & { readonly type: "send" | "find" },
  ms: number,
  signal: AbortSignal,
): Promise<Answer> {
  if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
  let answer: Answer | undefined;
  let hasLeft = false;
  using scope = linked(signal, ms);
  const onOpen = (socket: OpenSocket): void => {
    const send = async (): Promise<void> => {
      await logIn(socket, options);
      hasLeft = command.type === "send";
      await socket.send(JSON.stringify({ ...command, once: true }));
    };
    send().catch(() => socket.renew());
  };
  const onMessage = (data: Buffer): void => {
    const frame = parseFrame(data);
    if (frame?.type !== "sent" && frame?.type !== "error" && frame?.type !== "found") return;
    answer = frame;
    scope.abort();
  };
  // One connection, and no second one.
  const onClosed = (code: number) =>
    closedFor(options, code) ?? new ChannelError("The bridge has closed the connection.");
  const { bridgeUrl, log } = options;
  const address = async (): Promise<string> => bridgeUrl;
  const limits = { reconnectMs: 0, openMs: ms };
  try {
    await keepSocket(
      { title, address, onMessage, onOpen, onAlive: () => undefined, onClosed, limits, log },
      scope.signal,
    );
  } catch (error) {
    if (answer === undefined) throw sendFailure(error, hasLeft);
  }
  if (answer === undefined) throw sendFailure(undefined, hasLeft);
  return answer;
}

function sendFailure(error: unknown, hasLeft: boolean): ChannelError {
  const isOfToken = error instanceof ChannelError && error.message.includes("bridgeToken");
  if (isOfToken) return new ChannelError(error.message, { retryable: true });
  if (hasLeft)
    return new ChannelError("The WhatsApp bridge did not answer: the message may have arrived.", {
      outcome: "unknown",
      retryable: true,
    });
  const why = error instanceof Error ? error.message : "The WhatsApp bridge did not answer in time.";
  return new ChannelError(why, { retryable: true });
}

/** The library below the bridge fails before it sends: it is not connected, or does not know the address. Our own says more. */
function refusalOf({ error, outcome, retryAfterMs }: Extract<BridgeFrame, { readonly type: "error" }>): ChannelError {
  const words = error.replace(/^Error: /, "").slice(0, 300);
  const canHelp = /not connected|connection|timed? ?out|rate|overlimit|429/i.test(words);
  const message = `The WhatsApp bridge did not send the message: ${words === "" ? "it does not say why" : words}.`;
  return new ChannelError(message.replace(/\.\.$/, "."), {
    outcome: outcome ?? "refused",
    retryable: canHelp || retryAfterMs !== undefined || outcome === "unknown",
    retryAfterMs,
  });
}
