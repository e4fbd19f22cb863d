import { messageOf } from "../../errors.js";
import { EgressError } from "../web/egress.js";
import type { RenderPage } from "../web/web-fetch.js";
import type { Browsers } from "./browsers.js";

const navigationMs = 20_000;
/** How long scripts may still fill the page. */
const settleMs = 4000;
const maxCharacters = 5_000_000;

/** Reads pages in a browser of its own, whose profile is gone when it closes. */
export function createRenderer(browsers: Browsers, key: string): RenderPage {
  return async (url, { signal, allows }) => {
    using held = await browsers.hold(key);
    const page = await held.context.newPage();
    const onAbort = (): void => void page.close().catch(() => undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const response = await page.goto(url, { waitUntil: "domcontentloaded", timeout: navigationMs });
      await page.waitForLoadState("networkidle", { timeout: settleMs }).catch(() => undefined);
      const end = page.url();
      const refusal = response?.status() === 403 ? held.refusalOf(new URL(end).hostname) : undefined;
      if (refusal !== undefined) throw new EgressError(refusal);
      if (end !== url && !allows({ kind: "network", url: end, sends: false }))
        throw new EgressError(`${url} leads to ${end}, which is not allowed as such; ask for that address.`);
      return { html: (await page.content()).slice(0, maxCharacters), url: end };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EgressError) throw error;
      const refusal = URL.canParse(url) ? held.refusalOf(new URL(url).hostname) : undefined;
      throw new EgressError(
        refusal ?? `${url} could not be opened: ${(messageOf(error).split("\n")[0] ?? "").slice(0, 200)}`,
      );
    } finally {
      signal.removeEventListener("abort", onAbort);
      await page.close().catch(() => undefined);
    }
  };
}
