import { newMessageId } from "../../client/commands.js";
import type { Api } from "./api.js";

interface PresenceOptions {
  readonly api: Pick<Api, "post">;
  /** The session that is open, `inbox`, or empty. */
  readonly at: () => string;
  /** There is a connection: only then it is said. */
  readonly isConnected: () => boolean;
}

/** The gateway counts what it was told for a little longer. */
const everyMs = 30_000;
/** A screen that nobody has touched for so long is looked at by nobody. */
const awayAfterMs = 120_000;

/** Tells the gateway whether somebody looks at this page, so that it calls them elsewhere if not. */
export class PagePresence {
  readonly #options: PresenceOptions;
  /** Not `randomUUID`, which a page without TLS does not have. */
  readonly #page = newMessageId();
  #touchedAt = Date.now();
  #said = "";

  constructor(options: PresenceOptions) {
    this.#options = options;
    const onTouch = (): void => {
      const wasLooking = this.#isLooking;
      this.#touchedAt = Date.now();
      if (!wasLooking) this.say();
    };
    for (const type of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focus"])
      window.addEventListener(type, onTouch, { passive: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.say() : onTouch()));
    window.addEventListener("pagehide", () => this.#leave());
    setInterval(() => this.say(true), everyMs);
  }

  /** What is the same as before is said again only by the clock, and only while somebody looks. */
  say(isAgain = false): void {
    const looking = this.#isLooking;
    const body = { page: this.#page, at: this.#options.at(), looking };
    const words = JSON.stringify(body);
    if (!this.#options.isConnected() || (words === this.#said && !(isAgain && looking))) return;
    this.#said = words;
    // The next one says it, too.
    this.#options.api.post("api/presence", body).catch(() => undefined);
  }

  /** A fresh connection may be to a gateway that has forgotten it. */
  sayAgain(): void {
    this.#said = "";
    this.say();
  }

  #leave(): void {
    if (!this.#options.isConnected()) return;
    const body = JSON.stringify({ page: this.#page, at: "", looking: false });
    this.#said = "";
    navigator.sendBeacon("api/presence", new Blob([body], { type: "application/json" }));
  }

  get #isLooking(): boolean {
    return !document.hidden && Date.now() - this.#touchedAt < awayAfterMs;
  }
}
