import { RequestError } from "../errors.js";
import { channelOf, chatOf, clientChannels } from "../events/session-key.js";
import type { JobOwner } from "./job.js";

const defaultChat = "webui:scheduled";

/**
 * A direct chat's messages are its owner's; in any other chat nobody is known to ask, and that has a guest's rights.
 *
 * @param owners `channel:sender` from the config
 * @throws {RequestError} 400 for what is not a chat
 */
export function jobOwnerOf(sessionKey = defaultChat, owners: readonly string[]): JobOwner {
  const channel = channelOf(sessionKey);
  const [chatId = "", ...thread] = clientChannels.has(channel) ? [chatOf(sessionKey)] : chatOf(sessionKey).split(":");
  if (!/^[a-z0-9-]+$/.test(channel) || chatId === "" || channel === "system")
    throw new RequestError(`"${sessionKey.slice(0, 80)}" is not a chat. Write channel:chat, e.g. telegram:42.`, {
      status: 400,
      code: "bad_request",
    });
  const own =
    owners.find((owner) => owner === `${channel}:${chatId}`) ?? owners.find((each) => channelOf(each) === channel);
  const senderId = clientChannels.has(channel) ? "owner" : own === undefined ? chatId : chatOf(own);
  return { channel, chatId, senderId, sessionKey, ...(thread.length === 0 ? {} : { thread: thread.join(":") }) };
}
