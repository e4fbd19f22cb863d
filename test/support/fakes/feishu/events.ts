/** A message of a person. */
export interface FeishuWrite {
  /** Their open_id. */
  readonly from: string;
  readonly text?: string;
  /** A group's chat_id. Without any: a direct chat. */
  readonly group?: string;
  /** Mentions the bot first. Default in groups. */
  readonly mentions?: boolean;
  /** Root of the thread that it is in. */
  readonly thread?: string;
  /** The message that it answers. */
  readonly parent?: string;
  readonly id?: string;
  /** Unix ms. */
  readonly at?: number;
  /** Another kind than a text. */
  readonly type?: string;
  readonly content?: object | string;
  readonly moreMentions?: readonly { readonly key: string; readonly id: string; readonly name: string }[];
  readonly isBot?: boolean;
}

export interface StoredMessage {
  readonly message_id: string;
  readonly root_id?: string;
  readonly parent_id?: string;
  readonly thread_id?: string;
  readonly create_time: string;
  readonly chat_id: string;
  readonly msg_type: string;
  deleted?: boolean;
  readonly sender: { readonly id: string; readonly id_type: string; readonly sender_type: string };
  body: { content: string };
  readonly mentions?: readonly object[];
}

/** The direct chat of a person, as Feishu counts it. */
export function directOf(person: string): string {
  return `oc_direct_${person}`;
}

export function threadIdOf(root: string): string {
  return `omt_${root}`;
}

export function stored(write: FeishuWrite, id: string, botId: string): StoredMessage {
  const { from, group, text = "", thread, parent, type = "text", at = Date.now(), isBot = false } = write;
  const mentions = [
    ...((write.mentions ?? group !== undefined) ? [{ key: "@_user_1", id: botId, name: "小助手" }] : []),
    ...(write.moreMentions ?? []),
  ];
  const named = mentions.some(({ id: one }) => one === botId) && type === "text" ? `@_user_1 ${text}` : text;
  const content = write.content ?? { text: named };
  return {
    message_id: id,
    ...(thread === undefined ? {} : { root_id: thread, parent_id: thread, thread_id: threadIdOf(thread) }),
    ...(parent === undefined ? {} : { root_id: thread ?? parent, parent_id: parent }),
    create_time: String(at),
    chat_id: group ?? directOf(from),
    msg_type: type,
    sender: { id: from, id_type: "open_id", sender_type: isBot ? "app" : "user" },
    body: { content: typeof content === "string" ? content : JSON.stringify(content) },
    ...(mentions.length === 0 ? {} : { mentions: mentions.map((one) => ({ ...one, id_type: "open_id" })) }),
  };
}

/** https://open.feishu.cn/document/server-docs/im-v1/message/events/receive */
export function receiveEvent(message: StoredMessage, isDirect: boolean): object {
  const { sender, msg_type: message_type, body, mentions, chat_id, ...rest } = message;
  return {
    sender: { sender_id: { open_id: sender.id, union_id: "on_1" }, sender_type: sender.sender_type, tenant_key: "t" },
    message: {
      ...rest,
      chat_id,
      chat_type: isDirect ? "p2p" : "group",
      message_type,
      content: body.content,
      ...(mentions === undefined
        ? {}
        : { mentions: mentions.map((one) => ({ ...one, id: { open_id: Reflect.get(one, "id") } })) }),
    },
  };
}
