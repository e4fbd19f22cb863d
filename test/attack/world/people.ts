/** Who writes in the attacked world. Eve was never let in. */
export type Person = "owner" | "ann" | "bob" | "cid" | "eve";

export const letIn: readonly Person[] = ["owner", "ann", "bob", "cid"];

export const telegramIds: Readonly<Record<Person, number>> = { owner: 1, ann: 2, bob: 3, cid: 5, eve: 9 };

/** One conversation, and who reads it. */
export interface Chat {
  readonly name: string;
  /** The session's key. */
  readonly key: string;
  readonly members: readonly Person[];
  readonly isGroup: boolean;
}

export const groupId = -100;

/** Ann and Bob are guests on Telegram, Cid is a guest at the WebSocket door; the group holds the owner as well. */
export const firstChats: readonly Chat[] = [
  { name: "own", key: "telegram:1", members: ["owner"], isGroup: false },
  { name: "page", key: "webui:page", members: ["owner"], isGroup: false },
  { name: "ann", key: "telegram:2", members: ["owner", "ann"], isGroup: false },
  { name: "bob", key: "telegram:3", members: ["owner", "bob"], isGroup: false },
  { name: "cid", key: "websocket:desk", members: ["owner", "cid"], isGroup: false },
  { name: "group", key: `telegram:${groupId}`, members: ["owner", "ann", "bob"], isGroup: true },
];
