import { findingSentence } from "../../util/words/finding-sentences.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { missingKey } from "./missing-key.js";
import { type EmailSection, email, emailLabels, emailMeanings } from "./section.js";
import { emailImports, emailSetUp } from "./set-up.js";

export const emailPlatform: Platform<EmailSection> = {
  words: { title: { en: "Email", zh: "电子邮件" }, labels: emailLabels, meanings: emailMeanings },

  section: email,

  lacks(section) {
    const missing = missingKey(section);
    return missing === undefined ? undefined : problemSentence("channel_lacks", { name: "email", missing });
  },

  guarded: ["accessTokenFile", "tlsCaFile", "oauth"],

  async open(section, scope) {
    const { openEmail } = await import("./open.js");
    return await openEmail(section, scope);
  },

  async logIn(section, scope, signal) {
    const { logIn } = await import("./open.js");
    return await logIn(section, scope, signal);
  },

  checkup: {
    unshared: ({ imapUsername, imapHost, imapMailbox }) => ({
      imapUsername: imapUsername && `${imapUsername}@${imapHost}/${imapMailbox}`.toLowerCase(),
    }),
    risks: ({ verifySender }) =>
      verifySender === "off"
        ? [
            {
              about: "people",
              level: "fail",
              found: findingSentence("sender_unverified", { name: "email" }),
              todo: findingSentence("sender_unverified_todo"),
            },
          ]
        : [],
  },

  setUp: { ...emailSetUp, canListen: () => false },

  imports: emailImports,
};
