import { MatrixChannel } from "../../../src/channels/matrix/matrix.js";
import { lengthOf, longestMessage } from "../../../src/channels/matrix/shape.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { matrixRefusal, sendCall, startFakeMatrix, syncCall } from "../../support/fakes/matrix/fake-matrix.js";
import { farSideOver } from "../../support/worlds/channels/over-fake.js";

const people = ["@ann:example.org", "@bob:example.org"] as const;

testChannelContract("matrix", async () => {
  const matrix = await startFakeMatrix();
  const { server, chats, url, token, previewed } = matrix;
  const [ann, bob] = [matrix.room([people[0]]), matrix.room([people[1]])];
  const personIn = (chatId: string): string => (chatId === ann ? people[0] : people[1]);
  return {
    ...farSideOver({
      platform: { server, chats, sendCall, editCall: sendCall, receiveCall: syncCall, refusal: matrixRefusal },
      open(context, isWrong = false) {
        const accessToken = isWrong ? "syt_wrong_secret" : token;
        return new MatrixChannel({ homeserver: url, accessToken, spans: { busyRetryMs: 20 }, log: silentLog }, context);
      },
      secrets: [token, "syt_wrong_secret"],
      chats: [ann, bob],
      write: (chatId, text) => void matrix.write({ room: chatId, sender: personIn(chatId), text }),
      longestMessage,
      lengthOf,
      press: (chatId, value) => matrix.press(chatId, personIn(chatId), value),
      told: () => matrix.notices.map(({ text }) => ({ text, isLoud: true })),
      showsPresses: true,
    }),
    previewed: () => previewed,
  };
});
