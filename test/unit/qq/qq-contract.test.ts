import { QqChannel } from "../../../src/channels/qq/qq.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { plainRefusal, sendCall, startFakeQq } from "../../support/fakes/qq/fake-qq.js";
import { farSideOver } from "../../support/worlds/channels/over-fake.js";

/** A login that it does not know, an address outside the whitelist, rights that are missing, a ban. */
const passingRefusals = [100_016, 11_298, 11_253, 11_264, 11_265].map((code) => ({
  status: 401,
  body: { code, message: "no" },
}));

for (const hasMarkdown of [true, false])
  testChannelContract(`QQ ${hasMarkdown ? "with" : "without"} Markdown`, async () => {
    const qq = await startFakeQq({ appSecret: "contract-secret", hasMarkdown });
    const { server, chats, appId, url } = qq;
    return {
      ...farSideOver({
        platform: { server, chats, sendCall, refusal: plainRefusal, passingRefusals },
        open: (context, isWrong = false) =>
          new QqChannel(
            {
              appId,
              appSecret: isWrong ? "wrong-secret" : qq.appSecret,
              apiRoot: url,
              tokenRoot: url,
              limits: { reconnectMs: 0 },
              busyRetryMs: 20,
              log: silentLog,
            },
            context,
          ),
        secrets: ["contract-secret", "wrong-secret", "access-"],
        chats: ["E4F4AEA33253A2797FB897C50B81D7ED", "C9F778FE6ADF9D1D1DBE395BF744A33A"],
        // A bot hears about nothing that was written before its first connection.
        write: (from, text) => void qq.gateway.whenKnown(() => qq.write({ from, text })),
        longestMessage: 5000,
      }),
      previewed: () => qq.fetched,
    };
  });
