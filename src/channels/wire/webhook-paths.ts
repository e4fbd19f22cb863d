import type { IncomingMessage, ServerResponse } from "node:http";
import { ChannelError } from "../../errors.js";
import type { WebhookPaths } from "../channel.js";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Which channel has which path of the gateway's server. */
export class OpenWebhookPaths implements WebhookPaths {
  readonly #handlers = new Map<string, Handle>();

  open(name: string, handle: Handle): Disposable {
    if (this.#handlers.has(name)) throw new ChannelError(`Another channel has the path /hooks/${name}.`);
    this.#handlers.set(name, handle);
    return { [Symbol.dispose]: () => void this.#handlers.delete(name) };
  }

  find(name: string): Handle | undefined {
    return this.#handlers.get(name);
  }
}
