/** A message of a person, as QQ's documents have its event. */
export interface QqWrite {
  readonly from: string;
  readonly text?: string;
  /** A group's openid. Without any: a private chat. */
  readonly group?: string;
  /** A guild's channel. */
  readonly channel?: string;
  /** A private message in a guild. */
  readonly guild?: string;
  readonly id?: string;
  readonly isBot?: boolean;
  readonly at?: Date;
  readonly files?: readonly {
    readonly filename: string;
    readonly mimeType: string;
    readonly bytes: Buffer;
    readonly isVoice?: boolean;
    readonly url?: string;
    /** What QQ has heard. */
    readonly heard?: string;
  }[];
  readonly quotes?: { readonly shortId: string; readonly text: string };
  readonly isForwarded?: boolean;
}

export function qqEvent(message: QqWrite, id: string, botId: string) {
  const { from, text = "", group, channel, guild, isBot = false, at = new Date() } = message;
  const attachments = (message.files ?? []).map(({ filename, mimeType, bytes, isVoice, url, heard }) => ({
    content_type: isVoice === true ? "voice" : mimeType,
    filename,
    size: bytes.length,
    url,
    ...(isVoice === true && mimeType === "audio/wav" ? { voice_wav_url: url } : {}),
    ...(heard === undefined ? {} : { asr_refer_text: heard }),
  }));
  const { quotes, isForwarded } = message;
  const common = {
    id,
    timestamp: at.toISOString(),
    ...(attachments.length === 0 ? {} : { attachments }),
    message_scene: {
      source: "default",
      ext: [...(quotes === undefined ? [] : [`ref_msg_idx=${quotes.shortId}`]), `msg_idx=REFIDX_${id}`],
    },
    ...(quotes === undefined ? {} : { message_type: 103, msg_elements: [{ content: quotes.text }] }),
    ...(isForwarded === true ? { message_type: 102 } : {}),
  };
  if (group !== undefined)
    return {
      type: "GROUP_AT_MESSAGE_CREATE",
      chatId: `group-${group}`,
      data: { ...common, content: ` ${text}`, group_openid: group, author: { member_openid: from, bot: isBot } },
    };
  const author = { id: from, username: `user ${from}`, bot: isBot };
  if (channel !== undefined)
    return {
      type: "AT_MESSAGE_CREATE",
      chatId: `channel-${channel}`,
      data: { ...common, content: `<@!${botId}> ${text}`, channel_id: channel, guild_id: "guild-1", author },
    };
  if (guild !== undefined)
    return {
      type: "DIRECT_MESSAGE_CREATE",
      chatId: guild,
      data: { ...common, content: text, channel_id: "direct", guild_id: guild, author },
    };
  return {
    type: "C2C_MESSAGE_CREATE",
    chatId: from,
    data: { ...common, content: text, author: { user_openid: from } },
  };
}
