import { ns } from "../../../../../src/channels/xmpp/namespaces.js";
import { type Xml, xml } from "../../../../../src/channels/xmpp/stream/xml.js";
import { xmppPassword } from "../../../fakes/xmpp/prosody.js";
import type { ChannelHarness, HarnessMessage, SendFault } from "../channel-harness.js";
import { XmppServers, type XmppWorld } from "./xmpp-world.js";

/** An account for the shared tests, on a real server behind a proxy. The first one starts it. */
export function createXmppHarnesses(): { readonly open: () => Promise<ChannelHarness> } & AsyncDisposable {
  const servers = new XmppServers();
  return {
    open: async () => openXmppHarness(await servers.world()),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

function openXmppHarness(world: XmppWorld): ChannelHarness {
  const { ann, bob, bot, proxy } = world;
  const personOf = (chatId: string) => (chatId === ann.jid ? ann : bob);
  const writeAs = async (message: HarnessMessage, more: readonly Xml[] = []): Promise<string> => {
    const { from, text = "", files = [], answers } = message;
    const person = personOf(from.chatId);
    const links: Xml[] = [];
    for (const { filename, mimeType, bytes } of files) {
      const url = await person.upload(filename.replaceAll("/", "_"), mimeType, bytes);
      links.push(xml("x", ns.link, {}, xml("url", ns.link, {}, url)), fileOf(filename, mimeType, bytes.length));
    }
    const quote = answers === undefined ? "" : `> ${answers.text}\n`;
    const reply = answers === undefined ? [] : replyTo(answers.isOurs ? bot : person.jid, quote.length);
    const url = links[0]?.textOf("url", ns.link) ?? "";
    return person.write(bot, `${quote}${text || url}`, { children: [...links, ...reply, ...more] });
  };
  const shown = (chatId: string) =>
    personOf(chatId).seen.map(({ text, file }) => ({ text, files: file === undefined ? [] : [file] }));
  return {
    channel: "xmpp",
    config: { jid: bot, password: xmppPassword, service: `xmpp://127.0.0.1:${proxy.port}` },
    people: [
      { senderId: ann.jid, chatId: ann.jid },
      { senderId: bob.jid, chatId: bob.jid },
    ],
    hasVoice: false,
    knowsRepeats: true,
    write: (message) => writeAs(message),
    async edit(id, message) {
      await writeAs(message, [xml("replace", ns.correct, { id })]);
    },
    async remove(id, message) {
      await writeAs({ from: message.from, text: "This was taken back." }, [xml("retract", ns.retract, { id })]);
    },
    shown,
    showings: (chatId) => shown(chatId).map(({ text, files }) => (text === "" ? (files[0]?.filename ?? "") : text)),
    faults: ["429", "5xx", "cut-before", "cut-after", "timeout"],
    failNextSend: (fault) => proxy.failNext(faultOf(fault)),
    loseConnection: () => proxy.cut(),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function faultOf(fault: SendFault): Parameters<XmppWorld["proxy"]["failNext"]>[0] {
  if (fault === "429") return { kind: "refuse", type: "wait", condition: "resource-constraint" };
  if (fault === "timeout") return { kind: "hang", isTaken: true };
  if (fault === "cut-before" || fault === "cut-after") return { kind: "cut", isTaken: fault === "cut-after" };
  return { kind: "refuse", type: "cancel", condition: "internal-server-error" };
}

function replyTo(to: string, end: number): readonly Xml[] {
  const range = xml("body", ns.fallback, { start: "0", end: String(end) });
  return [xml("reply", ns.reply, { to, id: "unknown" }), xml("fallback", ns.fallback, { for: ns.reply }, range)];
}

/** What some programs say of a file, beside its address (XEP-0447). */
function fileOf(name: string, mimeType: string, size: number): Xml {
  const file = "urn:xmpp:file:metadata:0";
  const about = [
    ["name", name],
    ["media-type", mimeType],
    ["size", String(size)],
  ] as const;
  const facts = about.map(([key, value]) => xml(key, file, {}, value));
  return xml("file-sharing", "urn:xmpp:sfs:0", {}, xml("file", file, {}, ...facts));
}
