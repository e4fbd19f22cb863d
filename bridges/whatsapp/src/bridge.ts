import { join } from "node:path";
import type { Logger } from "../../../src/log.js";
import { linked } from "../../../src/util/async/linked.js";
import { makeFolder } from "../../../src/util/files/make-folder.js";
import { holdHome } from "./keep/home.js";
import { BridgeInbox } from "./keep/inbox.js";
import { BridgeOutbox } from "./keep/outbox.js";
import { SaidLately } from "./keep/said.js";
import { LinkKeeper } from "./link-keeper.js";
import { Sending } from "./sending.js";
import { Listeners } from "./server/listeners.js";
import { BridgeServer } from "./server/server.js";
import { Uploads } from "./server/uploads.js";
import type { Arrived, WhatsApp } from "./whatsapp.js";
import { framesOf } from "./words.js";

export interface BridgeOptions {
  readonly home: string;
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** Called once this process has the folder. */
  readonly openWhatsApp: () => Promise<WhatsApp>;
  readonly log: Logger;
  /** A code to scan, for who sits at the terminal. */
  readonly showCode?: ((code: string) => void) | undefined;
  readonly onListening?: ((port: number) => void) | undefined;
  /** How long a client may say nothing before it gets messages without confirming them. */
  readonly graceMs?: number | undefined;
  /** Before the second try to connect to WhatsApp. */
  readonly reconnectMs?: number | undefined;
}

/** WhatsApp takes documents of two gigabytes; more than this is nothing for a chat with an assistant. */
const maxFileBytes = 64 * 1024 * 1024;

/**
 * Keeps the device connected to WhatsApp, and passes messages between it and the gateway, until `signal` aborts.
 *
 * @throws when another bridge has its folder, and when what must be kept cannot be: then nothing more is confirmed to WhatsApp
 */
export async function runBridge(options: BridgeOptions, signal: AbortSignal): Promise<void> {
  const { home, log } = options;
  await makeFolder(home);
  const lock = await holdHome(home, log);
  try {
    await runAlone(options, signal);
  } finally {
    lock.release();
  }
}

async function runAlone(options: BridgeOptions, signal: AbortSignal): Promise<void> {
  const { home, host, port, token, openWhatsApp, log, graceMs, reconnectMs, showCode, onListening } = options;
  using scope = linked(signal);
  const whatsapp = await openWhatsApp();
  const inbox = await BridgeInbox.open(join(home, "inbox"));
  const outbox = await BridgeOutbox.open(join(home, "outbox"));
  const uploads = await Uploads.open(join(home, "uploads"), maxFileBytes);
  const said = new SaidLately();
  for (const { message } of inbox.waiting) said.note(message);
  const listeners = new Listeners(inbox, graceMs);
  const sending = new Sending({ whatsapp, outbox, uploads, said: (chat, id) => said.find(chat, id) });
  const keeper = new LinkKeeper(whatsapp, { inbox, outbox, listeners, said }, { log, reconnectMs, showCode });
  const states = () => framesOf(keeper.state);
  const markRead = (message: Arrived["message"]) => keeper.markRead(message);
  const kept = { inbox, listeners, sending, whatsapp, uploads, log };
  const parts = { ...kept, maxFileBytes, states, markRead, signal: scope.signal };
  const server = await BridgeServer.open({ host, port, token }, parts);
  try {
    if (inbox.count > 0) log.info(`${inbox.count} messages wait for the gateway`);
    onListening?.(server.port);
    await keeper.keep((state) => framesOf(state).forEach((frame) => void server.say(frame)), scope.signal);
  } finally {
    scope.abort();
    await server[Symbol.asyncDispose]();
    await sending.settled();
    await listeners.settled();
  }
}
