import { FakeChats } from "./platform/fake-chats.js";
import { type FakeCall, type FakeReply, startFakeServer } from "./platform/fake-server.js";

interface Update {
  readonly n: number;
  readonly kind: "message" | "press";
  readonly id: string;
  readonly chat: string;
  readonly from: string;
  readonly text: string;
}

const token = "my-chat-secret";
const longestText = 4000;

/** The platform of examples/channel: long polling, and a key by which it knows a repeated send. */
export async function startFakeMyChat() {
  const chats = new FakeChats();
  const updates: Update[] = [];
  const waiting = new Set<() => void>();
  const told: { readonly text: string; readonly isLoud: boolean }[] = [];

  const read = async ({ query, signal }: FakeCall): Promise<FakeReply> => {
    const news = (): readonly Update[] => updates.filter(({ n }) => n > Number(query.get("after")));
    if (news().length === 0 && query.get("wait") !== "0")
      await new Promise<void>((resolve) => {
        waiting.add(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    return { body: { updates: news() } };
  };
  const show = ({ json }: FakeCall): FakeReply => {
    const text = String(json.text);
    if (text === "" || text.length > longestText) return { status: 400 };
    const buttons = Array.isArray(json.buttons) ? json.buttons : [];
    return { body: { id: chats.show({ chatId: String(json.chat), text, buttons }, String(json.key)) } };
  };
  const answer = (call: FakeCall): FakeReply | Promise<FakeReply> => {
    if (call.headers.authorization !== `Bearer ${token}`) return { status: 401 };
    switch (call.name) {
      case "GET /updates":
        return read(call);
      case "POST /messages":
        return show(call);
      case "POST /edits":
        return { status: chats.edit(String(call.json.id), String(call.json.text)) ? 200 : 404 };
      case "POST /pressed":
        told.push({ text: String(call.json.text), isLoud: call.json.isLoud === true });
        return {};
      default:
        return { status: 404 };
    }
  };
  const server = await startFakeServer({ answer });
  const add = (kind: Update["kind"], chat: string, text: string): string => {
    const n = updates.length + 1;
    updates.push({ n, kind, id: `u${n}`, chat, from: chat, text });
    for (const wake of waiting) wake();
    waiting.clear();
    return `u${n}`;
  };
  return {
    token,
    longestText,
    platform: {
      server,
      chats,
      sendCall: /^POST \/messages$/,
      editCall: /^POST \/edits$/,
      receiveCall: /^GET \/updates$/,
    },
    write: (chat: string, text: string) => add("message", chat, text),
    press: (chat: string, value: string) => void add("press", chat, value),
    told: () => told,
  };
}
