import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FarWhatsApp } from "../../../whatsapp-bridge/far-whatsapp.js";
import { openBridge } from "../../../whatsapp-bridge/open-bridge.js";
import type { ChannelHarness, SendFault } from "../channel-harness.js";

/** People who write to a number that our own bridge is logged in to. */
export async function openOwnBridgeHarness(): Promise<ChannelHarness> {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-bridge-"));
  const far = await FarWhatsApp.start();
  const token = "harness-bridge";
  const bridge = await openBridge({ home, farUrl: far.url, token });
  const person = (id: string) => ({ senderId: id, chatId: id });
  const faults: readonly SendFault[] = ["cut-before", "cut-after", "timeout"];
  return {
    channel: "whatsapp",
    label: "whatsapp, own bridge",
    config: { bridgeUrl: bridge.url, bridgeToken: token },
    people: [person("15551230001"), person("15551230002")],
    hasVoice: false,
    quotes: false,
    knowsRepeats: true,
    write: async ({ from, text = "", files = [] }) => {
      const [file] = files;
      if (file === undefined) return far.write(from.chatId, text);
      const { filename: name, mimeType, bytes } = file;
      return far.write(from.chatId, text, { file: { name, mimeType, sizeBytes: bytes.length } }, bytes);
    },
    shown: (chatId) => far.chats.in(chatId),
    showings: (chatId) => far.chats.showings(chatId),
    faults,
    failNextSend(fault) {
      if (fault === "cut-before" || fault === "cut-after" || fault === "timeout") far.failNext(fault);
    },
    loseConnection: () => far.loseConnections(),
    async [Symbol.asyncDispose]() {
      await bridge.stop();
      await far[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}
