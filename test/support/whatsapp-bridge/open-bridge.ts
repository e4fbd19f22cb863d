import { runBridge } from "../../../bridges/whatsapp/src/bridge.js";
import { silentLog } from "../../../src/log.js";
import { FarLink } from "./far-link.js";

export interface OpenBridge extends AsyncDisposable {
  readonly url: string;
  readonly link: FarLink;
  stop(): Promise<void>;
}

interface OpenOptions {
  readonly home: string;
  readonly farUrl: string;
  readonly token?: string | undefined;
  readonly graceMs?: number | undefined;
}

/** The bridge in this process. */
export async function openBridge({ home, farUrl, token, graceMs }: OpenOptions): Promise<OpenBridge> {
  const ended = new AbortController();
  const link = new FarLink(farUrl);
  let running: Promise<void> = Promise.resolve();
  const port = await new Promise<number>((resolve, reject) => {
    const parts = { home, host: "127.0.0.1", port: 0, token, openWhatsApp: async () => link, log: silentLog };
    running = runBridge({ ...parts, graceMs, reconnectMs: 20, onListening: resolve }, ended.signal);
    running.catch(reject);
  });
  const stop = async (): Promise<void> => {
    ended.abort();
    await running;
  };
  return { url: `ws://127.0.0.1:${port}`, link, stop, [Symbol.asyncDispose]: stop };
}
