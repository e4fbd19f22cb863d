import type { BrowserContext, BrowserType } from "playwright-core";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import { type Egress, EgressError } from "../../policy/locations/egress.js";
import { newId } from "../../util/ids.js";
import { loadPackage } from "../../util/packages/load.js";
import { cutText } from "../../util/text/cut-text.js";
import { type EgressProxy, openEgressProxy } from "./proxy.js";

export interface BrowserChange {
  readonly key: string;
  readonly id: string;
  readonly from: "starting" | "ready";
  readonly to: "ready" | "stopped" | "failed";
  readonly detail?: string;
}

export interface BrowsersOptions {
  readonly executablePath: string;
  /** More arguments for it. */
  readonly args: readonly string[];
  readonly egress: Egress;
  /** The folder of a session's profile; undefined: one that is gone afterwards. */
  readonly profileOf: (key: string) => string | undefined;
  readonly idleMs: number;
  /** Started at the same time at most; of more the one that rested longest is closed. */
  readonly max: number;
  /** Where packages may have been added. */
  readonly home?: string | undefined;
  readonly onChange: (change: BrowserChange) => void;
}

/** One browser of a session, as long as it is used. */
export interface HeldBrowser extends Disposable {
  readonly context: BrowserContext;
  /** Why its last requests to a host were refused. */
  readonly refusalOf: (host: string) => string | undefined;
}

interface Entry {
  readonly key: string;
  readonly id: string;
  readonly opening: Promise<BrowserContext>;
  users: number;
  usedAt: number;
  timer: NodeJS.Timeout | undefined;
  closing: Promise<void> | undefined;
  isReported: boolean;
  /** Why it ends, where that is not by itself. */
  why: string;
}

const playwright = z.object({
  chromium: z.custom<BrowserType>(
    (value) => typeof value === "object" && value !== null && "launchPersistentContext" in value,
  ),
});
const launchMs = 30_000;
const forgetMs = 1000;

/**
 * The browsers of all sessions: one process and one profile each, started when it is wanted, closed when nobody has
 * used it for a while. They reach the network past policy only. All of them end with this process, however it ends:
 * they are driven over a pipe, and stop when it closes.
 */
export class Browsers implements AsyncDisposable {
  readonly #options: BrowsersOptions;
  readonly #entries = new Map<string, Entry>();
  #proxy: Promise<EgressProxy> | undefined;
  #isClosed = false;

  constructor(options: BrowsersOptions) {
    this.#options = options;
  }

  /** @throws {EgressError} with a sentence when it cannot be started */
  async hold(key: string): Promise<HeldBrowser> {
    if (this.#isClosed) throw new EgressError("The gateway is stopping.");
    const before = this.#entries.get(key);
    await before?.closing;
    const entry = before?.closing === undefined && before !== undefined ? before : await this.#open(key);
    clearTimeout(entry.timer);
    entry.users += 1;
    try {
      const context = await entry.opening;
      const proxy = await this.#proxyOnce();
      return { context, refusalOf: proxy.refusalOf, [Symbol.dispose]: () => this.#rest(entry) };
    } catch (error) {
      this.#rest(entry);
      throw new EgressError(`The browser could not be started: ${startFailure(error)}`);
    }
  }

  /** Closes a session's browser, if one is open. `isTold: false`: the session is not there any more to be told. */
  async close(key: string, detail: string, { isReported = true } = {}): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.isReported = isReported;
    await this.#stop(entry, detail);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.values()].map((entry) => this.#stop(entry, "the gateway stops")));
    await (await this.#proxy)?.[Symbol.asyncDispose]();
  }

  async #open(key: string): Promise<Entry> {
    const resting = [...this.#entries.values()].filter(({ users, closing }) => users === 0 && closing === undefined);
    if (this.#entries.size >= this.#options.max) {
      const oldest = resting.sort((a, b) => a.usedAt - b.usedAt)[0];
      if (oldest === undefined) throw new EgressError("Too many browsers are in use; try again later.");
      await this.#stop(oldest, "another chat needs one");
    }
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const id = newId("env");
    const entry: Entry = {
      key,
      id,
      opening: this.#launch(key),
      users: 0,
      usedAt: Date.now(),
      timer: undefined,
      closing: undefined,
      isReported: true,
      why: "it ended",
    };
    this.#entries.set(key, entry);
    entry.opening.then(
      (context) => {
        this.#options.onChange({ key, id, from: "starting", to: "ready" });
        const forgetting = setInterval(() => forgetTalk(context), forgetMs).unref();
        context.once("close", () => clearInterval(forgetting));
        // Crashed, or ended by somebody else.
        context.once("close", () => this.#gone(entry));
      },
      (error: unknown) => {
        this.#entries.delete(key);
        this.#options.onChange({ key, id, from: "starting", to: "failed", detail: startFailure(error) });
      },
    );
    return entry;
  }

  async #launch(key: string): Promise<BrowserContext> {
    const { executablePath, args, profileOf, home } = this.#options;
    const [library, proxy] = await Promise.all([loadPackage("playwright-core", home), this.#proxyOnce()]);
    const { chromium } = playwright.parse(library);
    const isRoot = process.getuid?.() === 0;
    return await chromium.launchPersistentContext(profileOf(key) ?? "", {
      executablePath,
      headless: true,
      // Chromium refuses its own sandbox as root.
      chromiumSandbox: !isRoot,
      proxy: { server: proxy.url },
      args: [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        // What does not go over the proxy does not go at all.
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        ...args,
      ],
      // A page opens no windows unless somebody has pressed something on it.
      ignoreDefaultArgs: ["--disable-popup-blocking"],
      acceptDownloads: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: launchMs,
    });
  }

  #proxyOnce(): Promise<EgressProxy> {
    this.#proxy ??= openEgressProxy(this.#options.egress);
    return this.#proxy;
  }

  #rest(entry: Entry): void {
    entry.users -= 1;
    entry.usedAt = Date.now();
    if (entry.users > 0 || entry.closing !== undefined) return;
    entry.timer = setTimeout(() => void this.#stop(entry, "nobody used it"), this.#options.idleMs);
    entry.timer.unref();
  }

  async #stop(entry: Entry, detail: string): Promise<void> {
    entry.closing ??= (async () => {
      clearTimeout(entry.timer);
      entry.why = detail;
      const context = await entry.opening.catch(() => undefined);
      await context?.close().catch(() => undefined);
      if (context !== undefined) this.#gone(entry);
    })();
    await entry.closing;
  }

  #gone(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    clearTimeout(entry.timer);
    if (entry.isReported)
      this.#options.onChange({ key: entry.key, id: entry.id, from: "ready", to: "stopped", detail: entry.why });
  }
}

/** Playwright keeps the last 200 things that each page has logged, whatever their length: a page could fill the memory so. */
function forgetTalk(context: BrowserContext): void {
  for (const page of context.pages())
    Promise.all([page.clearConsoleMessages(), page.clearPageErrors()]).catch(() => undefined);
}

/** What the browser itself has said about it, rather than that it has gone. */
function startFailure(error: unknown): string {
  const text = messageOf(error);
  if (/No usable sandbox|sandboxing failed/i.test(text))
    return 'its own sandbox does not work on this system. In a container, set tools.browser.args to ["--no-sandbox"]; elsewhere allow user namespaces.';
  const said = /\[err\] (.+)/.exec(text)?.[1] ?? text.split("\n")[0] ?? "";
  return cutText(said, 300);
}
