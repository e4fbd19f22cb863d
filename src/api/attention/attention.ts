import { messageOf, RequestError } from "../../errors.js";
import type { SenderKey } from "../../push/sender-key.js";
import type { Subscription, Subscriptions } from "../../push/subscriptions.js";
import type { AttentionApi, Look, PushRequest } from "./attention-api.js";
import type { Presence } from "./presence.js";

export interface AttentionPorts {
  readonly presence: Presence;
  readonly subscriptions: Subscriptions;
  readonly key: () => Promise<SenderKey>;
  /** @throws where nothing of this gateway may go to this address */
  readonly assertReachable: (endpoint: URL) => Promise<void>;
  readonly isPoint: (bytes: Buffer) => boolean;
  /** True for a device that is signed out. */
  readonly isStrange: (device: string) => boolean;
  readonly now: () => number;
}

const longestEndpoint = 1000;

export class Attention implements AttentionApi {
  readonly #ports: AttentionPorts;

  constructor(ports: AttentionPorts) {
    this.#ports = ports;
  }

  async pushKey(): Promise<string> {
    return (await this.#ports.key()).publicKey;
  }

  async subscribe(request: PushRequest, device: string): Promise<void> {
    const { subscriptions, now, isStrange } = this.#ports;
    const { endpoint, p256dh, auth, replaces } = request;
    await this.#check(request);
    const before = subscriptions.find(replaces ?? endpoint);
    // Choices of another device are none of this one's.
    const own: Partial<Subscription> = before?.device === device ? before : {};
    const language = request.language ?? own.language ?? "en";
    const quietNights = request.quietNights ?? own.quietNights ?? true;
    const since = own.since ?? now();
    const senderKey = await this.pushKey();
    await subscriptions.put({ endpoint, p256dh, auth, device, language, quietNights, senderKey, since });
    // Any step above may have taken long, and what a sign-out took away is there again then.
    if (isStrange(device)) {
      await subscriptions.removeOf((each) => each.device === device);
      throw new RequestError("This device was signed out. Sign in again.", { status: 401, code: "unauthorized" });
    }
    if (replaces !== undefined && replaces !== endpoint && before?.device === device)
      await subscriptions.remove(replaces);
  }

  async unsubscribe(endpoint: string): Promise<void> {
    await this.#ports.subscriptions.remove(endpoint);
  }

  look(look: Look): void {
    this.#ports.presence.note(look);
  }

  async #check({ endpoint, p256dh, auth }: PushRequest): Promise<void> {
    const { assertReachable, isPoint } = this.#ports;
    if (!isPoint(Buffer.from(p256dh, "base64url")) || Buffer.from(auth, "base64url").length !== 16)
      throw wrong("The keys of this subscription are not valid.");
    const url = endpoint.length <= longestEndpoint && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
      throw wrong("The endpoint of this subscription is not a web address.");
    try {
      await assertReachable(url);
    } catch (error) {
      throw wrong(`Nothing can be sent to the push service of this browser: ${messageOf(error)}`);
    }
  }
}

function wrong(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}
