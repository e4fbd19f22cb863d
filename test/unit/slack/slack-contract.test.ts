import { asAccount, contextFor } from "../../../src/channels/account.js";
import { createSlackChannel } from "../../../src/channels/slack/slack.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { editCall, sendCall, slackRefusal, startFakeSlack } from "../../support/fakes/slack/fake-slack.js";
import { farSideOver } from "../../support/worlds/channels/over-fake.js";

const [ann, bob] = ["UANN", "UBOB"] as const;
const userOf = (chatId: string): string => chatId.replace(/^D/, "U");

const passingRefusals = ["invalid_auth", "token_revoked", "missing_scope"].map((error) => ({
  body: { ok: false, error },
}));

/** `name`: of a further account, if it is one. */
async function openSlack(name?: string) {
  const slack = await startFakeSlack();
  const { server, chats, apiRoot, appToken, previewed } = slack;
  const spans = { busyRetryMs: 20, socket: { reconnectMs: 0 } };
  return {
    ...farSideOver({
      platform: { server, chats, sendCall, editCall, refusal: slackRefusal, passingRefusals },
      open(context, isWrong = false) {
        const botToken = isWrong ? "xoxb-wrong-secret" : slack.botToken;
        const options = { botToken, appToken, apiRoot, spans, log: silentLog };
        if (name === undefined) return createSlackChannel(options, context);
        const account = { platform: "slack", name };
        return asAccount(createSlackChannel(options, contextFor(account, context)), account);
      },
      secrets: [slack.botToken, appToken, "xoxb-wrong-secret", "secret-ticket"],
      chats: [slack.directOf(ann), slack.directOf(bob)],
      write: (chatId, text) => void slack.write({ channel: chatId, user: userOf(chatId), text }),
      longestMessage: 4000,
      press: (chatId, value) => void slack.press(chatId, userOf(chatId), value),
      told: () => slack.whispers.map(({ text, isSmall }) => ({ text, isLoud: !isSmall })),
    }),
    previewed: () => previewed,
  };
}

testChannelContract("slack", () => openSlack());
testChannelContract("slack-acme", () => openSlack("slack-acme"));
