import { z } from "zod";
import { InOrder } from "../../../util/async/in-order.js";
import type { ChannelRecords } from "../../channel.js";
import { jsonOf } from "../../wire/call.js";
import { request, type TokenSource, toBase } from "../api.js";
import { codeOf, MatrixRefusal, noLogin, title } from "../matrix-error.js";

export interface Credentials {
  readonly homeserver: string;
  readonly accessToken?: string | undefined;
  /** Without an access token: who logs in, and with what. */
  readonly userId?: string | undefined;
  readonly password?: string | undefined;
}

const kept = z.object({ homeserver: z.string(), userId: z.string(), token: z.string(), deviceId: z.string() });
const answered = z.looseObject({ access_token: z.string().min(1), device_id: z.string() });

const recordId = "login";

/**
 * The token of the config, or one that a login with a password has given and the records keep. Each login names the same
 * device: by it the homeserver knows repeats of what was sent.
 */
export class Login implements TokenSource {
  readonly #credentials: Credentials;
  readonly #records: ChannelRecords | undefined;
  readonly #turns = new InOrder();
  /** Where there are no records. */
  #latest: z.output<typeof kept> | undefined;

  constructor(credentials: Credentials, records: ChannelRecords | undefined) {
    this.#credentials = credentials;
    this.#records = records;
  }

  async token(signal: AbortSignal): Promise<string> {
    const { accessToken } = this.#credentials;
    if (accessToken !== undefined) return accessToken;
    return await this.#turns.run(async () => this.#known()?.token ?? (await this.#logIn(signal)));
  }

  async renew(refused: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#credentials.accessToken !== undefined) return undefined;
    return await this.#turns.run(async () => {
      const known = this.#known()?.token;
      return known !== undefined && known !== refused ? known : await this.#logIn(signal);
    });
  }

  /** A login of this account; whatever the records hold of another is not for it. */
  #known(): z.output<typeof kept> | undefined {
    const { homeserver, userId } = this.#credentials;
    const { data } = kept.safeParse(this.#records?.get(recordId));
    const found = data ?? this.#latest;
    return found !== undefined && found.homeserver === homeserver && found.userId === userId ? found : undefined;
  }

  async #logIn(signal: AbortSignal): Promise<string> {
    const { homeserver, userId = "", password = "" } = this.#credentials;
    const device = this.#known()?.deviceId;
    const body = {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: userId },
      password,
      initial_device_display_name: "maxclaw",
      ...(device === undefined ? {} : { device_id: device }),
    };
    const call = { method: "POST", path: "/client/v3/login", body, what: "the login" } as const;
    const answer = await request(toBase(homeserver), call, undefined, signal).catch((error: unknown) => {
      if (codeOf(error) !== "M_FORBIDDEN") throw error;
      throw new MatrixRefusal(
        noLogin,
        "Matrix refused the login (M_FORBIDDEN). Check channels.matrix.userId and channels.matrix.password.",
        { retryable: true },
      );
    });
    const { access_token: token, device_id: deviceId } = answered.parse(jsonOf(title, answer));
    this.#latest = { homeserver, userId, token, deviceId };
    await this.#records?.put(recordId, this.#latest);
    return token;
  }
}
