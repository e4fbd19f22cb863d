import { messageOf, RequestError } from "../../errors.js";
import { createGate } from "../../util/async/gate.js";
import type { McpServerSettings } from "../settings.js";

const loginMs = 300_000;

export type LoginState =
  | { readonly state: "none" }
  | {
      readonly state: "waiting";
      readonly url: string;
      readonly comesBackTo: string;
      readonly scope?: string | undefined;
    }
  | { readonly state: "done"; readonly wasNeeded: boolean }
  | { readonly state: "failed"; readonly reason: string };

interface Running {
  state: LoginState;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Logins at servers that a person has begun on the page, one for each server at a time. */
export class McpLogins implements AsyncDisposable {
  readonly #options: { readonly version: string; readonly home: string; readonly onDone: (name: string) => void };
  readonly #logins = new Map<string, Running>();

  constructor(options: { readonly version: string; readonly home: string; readonly onDone: (name: string) => void }) {
    this.#options = options;
  }

  /** Resolves once there is an address to show, or it is over. */
  async begin(server: McpServerSettings): Promise<LoginState> {
    this.end(server.name);
    const shown = createGate();
    const stop = new AbortController();
    const login: Running = {
      state: { state: "none" },
      stop,
      ended: Promise.resolve().then(() => this.#run(server, login, shown.open)),
    };
    this.#logins.set(server.name, login);
    await shown.opened;
    return login.state;
  }

  stateOf(name: string): LoginState {
    return this.#logins.get(name)?.state ?? { state: "none" };
  }

  /** @throws {RequestError} 409 when no login waits, 400 for another address than the login led to */
  async finish(name: string, address: string): Promise<LoginState> {
    const login = this.#logins.get(name);
    if (login?.state.state !== "waiting")
      throw new RequestError(`No login at ${name} waits. Begin one again.`, { status: 409, code: "wrong_state" });
    const { comesBackTo } = login.state;
    const given = URL.canParse(address) ? new URL(address) : undefined;
    if (given === undefined || `${given.origin}${given.pathname}` !== comesBackTo)
      throw wrong(`That is not the address that the login led to. It begins with ${comesBackTo}.`);
    const answer = await fetch(`${comesBackTo}${given.search}`, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw wrong((await answer.text()).slice(0, 300));
    await login.ended;
    return this.stateOf(name);
  }

  end(name: string): void {
    this.#logins.get(name)?.stop.abort(new DOMException("the login was ended", "AbortError"));
    this.#logins.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#logins];
    for (const [name] of all) this.end(name);
    await Promise.all(all.map(([, { ended }]) => ended));
  }

  async #run(server: McpServerSettings, login: Running, show: () => void): Promise<void> {
    const { home, version, onDone } = this.#options;
    try {
      const [{ logIn }, { createLoginStore }] = await Promise.all([import("./login.js"), import("./oauth.js")]);
      const open = (url: URL, scope?: string): void => {
        const comesBackTo = url.searchParams.get("redirect_uri") ?? "";
        login.state = { state: "waiting", url: url.href, comesBackTo, scope };
        show();
      };
      const options = { version, store: createLoginStore(home), port: 0, open, timeoutMs: loginMs };
      const wasNeeded = await logIn(server, options, login.stop.signal);
      login.state = { state: "done", wasNeeded };
      onDone(server.name);
    } catch (error) {
      login.state = { state: "failed", reason: messageOf(error) };
    } finally {
      show();
    }
  }
}

function wrong(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}
