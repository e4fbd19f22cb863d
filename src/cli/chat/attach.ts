import { type Client, ClientError, createClient } from "../../client/node.js";
import type { GatewayEvent } from "../../events/event.js";
import { findRunningGateway } from "../../offline/running-gateway.js";
import { CommandError } from "../exit.js";
import { printNote, toPlainJson } from "../text/output.js";
import { AttachScreen, type ScreenOutput } from "./attach-screen.js";

export interface AttachOptions {
  readonly home: string;
  readonly token: string | undefined;
  readonly sessionKey: string;
  /** Only what came after this seq. */
  readonly fromSequence: number;
  /** Each event as a line of JSON instead of a conversation. */
  readonly isJson: boolean;
}

/**
 * Shows a session from its log and then live until `left` resolves. A gateway that goes away is waited for, also when it
 * comes back at another address.
 *
 * @throws {CommandError} when the gateway refuses
 */
export async function attach(
  options: AttachOptions,
  left: Promise<unknown>,
  output: ScreenOutput = process.stdout,
): Promise<void> {
  const leaving = new AbortController();
  const client = createClient({ url: () => addressOf(options.home, leaving.signal), token: options.token });
  const screen = new AttachScreen(output);
  const show = (event: GatewayEvent): void => {
    if (options.isJson) output.write(`${toPlainJson(event)}\n`);
    else screen.show(event);
  };
  const say = (text: string): void => {
    // On a terminal both streams are the same screen.
    if (output.isTTY) screen.endLine();
    printNote(`maxclaw: ${text}`);
  };
  sayWhenAway(client, say);
  try {
    await new Promise<void>((resolve, reject) => {
      client.onError((error) => {
        if (error instanceof ClientError && error.kind === "refused") reject(new CommandError(error.message));
      });
      client.subscribe(options.sessionKey, show, {
        fromSequence: options.fromSequence,
        onRewind: (last) => say(`the gateway has lost what came after ${last}; it goes on from there`),
      });
      left.then(() => resolve(), reject);
    });
  } finally {
    leaving.abort();
    client.close();
    screen.endLine();
  }
}

function sayWhenAway(client: Client, say: (text: string) => void): void {
  let isAway = false;
  client.onOpen(() => {
    if (isAway) say("the gateway is back");
    isAway = false;
  });
  client.onClose(({ retryInMs }) => {
    if (!isAway && retryInMs !== undefined) say("the gateway went away; waiting for it to come back …");
    isAway = true;
  });
}

async function addressOf(home: string, signal: AbortSignal): Promise<string> {
  const running = await findRunningGateway(home, signal);
  if (running === undefined) throw new Error("No gateway is running for this home");
  return `http://${running.address}`;
}
