import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { asDocumented } from "../wire/call.js";
import { SlackApi, type SlackApiOptions, title } from "./api.js";
import { forRun } from "./slack-error.js";

const account = z.looseObject({ user: z.string(), team: z.string().nullish() });

/** Tries both tokens. Resolves with the bot's name. @throws {ChannelError} it names the token, or the missing rights */
export async function logIn(options: SlackApiOptions, signal: AbortSignal): Promise<string> {
  const api = new SlackApi(options);
  try {
    const said = asDocumented(title, account, await api.call("auth.test", {}, signal));
    const missing = await api.missingRights(signal);
    if (missing.length > 0)
      throw new ChannelError(
        `The Slack app lacks the rights ${missing.join(", ")}. Add them on its page OAuth & Permissions, and install it again.`,
      );
    // Opens no connection: the address that it gives is not called.
    await api.call("apps.connections.open", {}, signal, { as: "appToken" });
    return said.team ? `@${said.user} (${said.team})` : `@${said.user}`;
  } catch (error) {
    throw signal.aborted ? error : forRun(error);
  }
}
