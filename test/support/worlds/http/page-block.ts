import { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { openChromium } from "./chromium.js";
import { type Backend, startBackend } from "./web-gateway.js";

/** One browser for all tests of a block, from its first to its last. To be asked for in the block, and used in its tests. */
export function browserOfBlock(...args: Parameters<typeof openChromium>): () => Browser {
  return ofBlock(
    () => openChromium(...args),
    (browser) => browser.close(),
  );
}

/** One gateway for them. */
export function backendOfBlock(...args: Parameters<typeof startBackend>): () => Backend {
  return ofBlock(
    () => startBackend(...args),
    (backend) => backend.stop(),
  );
}

function ofBlock<T>(open: () => Promise<T>, close: (opened: T) => Promise<void>): () => T {
  let opened: T | undefined;
  before(async () => {
    opened = await open();
  });
  after(async () => {
    if (opened !== undefined) await close(opened);
  });
  return () => {
    if (opened === undefined) throw new Error("It is open only in the tests of its block");
    return opened;
  };
}
