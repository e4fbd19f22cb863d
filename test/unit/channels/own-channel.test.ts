import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { Channel, OwnChannelContext } from "../../../src/channels/channel.js";
import { ChannelError, ProviderError, StorageError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { channelKit } from "../../../src/wiring/extensions/channel-kit.js";
import { testChannelContract } from "../../contracts/channel.js";
import { startFakeMyChat } from "../../support/fakes/fake-my-chat.js";
import { projectFile } from "../../support/project.js";
import { farSideOver } from "../../support/worlds/channels/over-fake.js";

interface Template {
  readonly MyChat: new (settings: object, context: OwnChannelContext, tools: object) => Channel;
}

// It is a file of examples/, which is not compiled.
const { MyChat }: Template = await import(pathToFileURL(projectFile("examples/channel/my-chat.mjs")).href);
const tools = { z, errors: { ChannelError, ProviderError, StorageError }, log: silentLog, channelKit };

testChannelContract("the channel that strangers begin with", async () => {
  const fake = await startFakeMyChat();
  const { url } = fake.platform.server;
  return farSideOver({
    ...fake,
    open: (context, isWrong = false) => {
      const token = isWrong ? "wrong-secret" : fake.token;
      return new MyChat({ apiRoot: url, token, busyRetryMs: 20 }, context, tools);
    },
    secrets: [fake.token, "wrong-secret"],
    chats: ["ann", "bob"],
    longestMessage: fake.longestText,
  });
});
