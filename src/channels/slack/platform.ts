import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { type SlackSection, slack, slackLabels, slackMeanings } from "./section.js";
import { slackImports, slackSetUp } from "./set-up.js";

export const slackPlatform: Platform<SlackSection> = {
  words: { title: { en: "Slack", zh: "Slack" }, labels: slackLabels, meanings: slackMeanings },

  section: slack,

  lacks({ botToken, appToken }) {
    if (botToken === undefined) return problemSentence("channel_lacks", { name: "slack", missing: "botToken" });
    return appToken === undefined
      ? problemSentence("channel_lacks", { name: "slack", missing: "appToken" })
      : undefined;
  },

  shape: async () => (await import("./shape.js")).slackShape,

  async open({ botToken, appToken, apiRoot }, { context, log }) {
    if (botToken === undefined || appToken === undefined) return {};
    const { createSlackChannel } = await import("./slack.js");
    return { channel: createSlackChannel({ botToken, appToken, apiRoot, log }, context) };
  },

  async logIn({ botToken = "", appToken = "", apiRoot }, _scope, signal) {
    const { logIn } = await import("./log-in.js");
    return await logIn({ botToken, appToken, apiRoot }, signal);
  },

  checkup: {
    unshared: ({ botToken, appToken }) => ({ botToken, appToken }),
  },

  setUp: slackSetUp,

  imports: slackImports,
};
