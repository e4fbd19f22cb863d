import { createFeishuChannel } from "../../../src/channels/feishu/feishu.js";
import { bytesOf, longestText } from "../../../src/channels/feishu/shape.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { editCall, sendCall, startFakeFeishu } from "../../support/fakes/feishu/fake-feishu.js";
import { plainRefusal } from "../../support/fakes/feishu/rules.js";
import { farSideOver } from "../../support/worlds/channels/over-fake.js";

testChannelContract("Feishu", async () => {
  const feishu = await startFakeFeishu({ appSecret: "contract-secret" });
  const { server, chats, appId, url: apiRoot } = feishu;
  return farSideOver({
    platform: { server, chats, sendCall, editCall, refusal: plainRefusal },
    open: (context, isWrong = false) =>
      createFeishuChannel(
        {
          appId,
          appSecret: isWrong ? "wrong-secret" : feishu.appSecret,
          apiRoot,
          limits: { reconnectMs: 0 },
          spans: { busyRetryMs: 20 },
          log: silentLog,
        },
        context,
      ),
    secrets: ["contract-secret", "wrong-secret", "t-", "ticket-"],
    chats: ["ou_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ou_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"],
    write: (from, text) => void feishu.write({ from, text }),
    press: (person, value) => feishu.press(person, value),
    told: () => feishu.toasts(),
    longestMessage: longestText,
    lengthOf: bytesOf,
  });
});
