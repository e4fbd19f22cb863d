import type { Imports, SetUp } from "../platform.js";
import { whoMayTalk } from "../set-up.js";

export const emailSetUp: SetUp = {
  fields: [
    {
      key: "imapUsername",
      kind: "text",
      label: { en: "The assistant's mailbox", zh: "助手的邮箱" },
      hint: { en: "Its mail address.", zh: "邮箱地址。" },
      sets: ["imapUsername", "smtpUsername", "fromAddress"],
    },
    {
      key: "imapPassword",
      kind: "secret",
      label: { en: "Its password", zh: "密码" },
      hint: { en: "Many providers want one that is made for programs.", zh: "许多服务商要求使用专为程序生成的密码。" },
      sets: ["imapPassword", "smtpPassword"],
    },
    {
      key: "imapHost",
      kind: "server",
      label: { en: "The server that it is read from (IMAP)", zh: "收信服务器（IMAP）" },
      hint: { en: "Such as imap.example.org.", zh: "例如 imap.example.org。" },
      port: { key: "imapPort" },
    },
    {
      key: "smtpHost",
      kind: "server",
      label: { en: "The server that it sends through (SMTP)", zh: "发信服务器（SMTP）" },
      hint: { en: "Such as smtp.example.org.", zh: "例如 smtp.example.org。" },
      port: { key: "smtpPort", tlsKey: "smtpUseSSL" },
    },
    {
      key: "consentGranted",
      kind: "consent",
      label: { en: "This program may read all mail in this mailbox", zh: "允许本程序读取此邮箱的所有邮件" },
      hint: { en: "The mailbox belongs to you, or its owner agrees.", zh: "邮箱属于您，或其主人同意。" },
    },
    whoMayTalk,
  ],
  person: {
    label: "Your own mail address",
    choice: "This address:",
    isLowerCase: true,
    mayBegin: true,
    pattern: "^[^\\s@<>]+@[^\\s@<>]+$",
    refusal: "not a mail address.",
  },
};

export const emailImports: Imports = {
  keys: [
    ...["enabled", "consentGranted", "imapHost", "imapPort", "imapUsername", "imapPassword", "imapMailbox"],
    ...["imapUseSSL", "smtpHost", "smtpPort", "smtpUsername", "smtpPassword", "smtpUseTLS", "smtpUseSSL"],
    ...["fromAddress", "autoReplyEnabled", "pollIntervalSeconds", "markSeen", "allowFrom"],
  ],
  loginKeys: ["imapHost"],
};
