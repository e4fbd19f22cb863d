import { RequestError } from "../errors.js";
import { channelOf, chatOf, clientChannels, placeOf } from "../events/session-key.js";
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
  const isClient = clientChannels.has(channel);
  const { chatId, ...rest } = isClient ? { channel, chatId: chatOf(sessionKey) } : placeOf(sessionKey);
  if (!/^[a-z0-9-]+$/.test(channel) || chatId === "" || channel === "system")
    throw new RequestError(`"${sessionKey.slice(0, 80)}" is not a chat. Write channel:chat, e.g. telegram:42.`, {
      status: 400,
      code: "bad_request",
    });
  const own =
    owners.find((owner) => owner === `${channel}:${chatId}`) ?? owners.find((each) => channelOf(each) === channel);
  const senderId = isClient ? "owner" : own === undefined ? chatId : chatOf(own);
  return { ...rest, chatId, senderId, sessionKey };
}
