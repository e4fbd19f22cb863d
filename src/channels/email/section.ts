import { z } from "zod";
import { flag, optionalAddress, optionalText, whole } from "../../config/values.js";

const address = z
  .string()
  .trim()
  .toLowerCase()
  .refine((value) => value === "" || /^[^\s@<>]+@[^\s@<>]+$/.test(value), "an address such as assistant@example.org")
  .transform((value) => (value === "" ? undefined : value))
  .optional();

/** A mailbox by IMAP and SMTP. */
export const email = z.strictObject({
  enabled: flag(false).describe("Connect to the mailbox."),
  consentGranted: flag(false).describe(
    "The owner of the mailbox agrees that a program reads it. Without that nothing is connected.",
  ),
  imapHost: optionalText.describe("The server where mail is read."),
  imapPort: whole(1, 65_535, 993).describe("The port of that server."),
  imapUsername: optionalText.describe("The user name there."),
  imapPassword: optionalText.describe("The password there. If the provider has app passwords, use one of these."),
  imapMailbox: z
    .string()
    .trim()
    .min(1, "the name of a mailbox")
    .default("INBOX")
    .describe("The folder of the mailbox that is read."),
  imapUseSSL: flag(true).describe("The connection is encrypted from the first byte."),
  imapUseTLS: flag(true).describe(
    "Where it is not encrypted from the first byte: it becomes so before the login (STARTTLS). Off: everything can be read on the way.",
  ),
  smtpHost: optionalText.describe("The server that sends mail."),
  smtpPort: whole(1, 65_535, 587).describe("The port of that server."),
  smtpUsername: optionalText.describe("The user name there. Without it mail is sent without a login."),
  smtpPassword: optionalText.describe("The password there."),
  smtpUseTLS: flag(true).describe(
    "The connection becomes encrypted before the login (STARTTLS). Off: everything can be read on the way.",
  ),
  smtpUseSSL: flag(false).describe("The connection is encrypted from the first byte, as on port 465."),
  fromAddress: address.describe("The address that people write to. Without it: the user name of the mailbox."),
  accessToken: optionalText.describe("An OAuth2 token instead of passwords."),
  accessTokenFile: optionalText.describe("A file that always holds a fresh token. It is read at each login."),
  /** Access tokens that are renewed here, by a login that somebody has made before. */
  oauth: z
    .strictObject({
      tokenUrl: optionalAddress.describe("The address where access tokens are renewed."),
      clientId: optionalText.describe("The id of the application that you have registered."),
      clientSecret: optionalText.describe("The secret of that application, if it has one."),
      refreshToken: optionalText.describe("The token from a login of yours. It switches OAuth2 on."),
      scope: optionalText.describe("What the login is for, if the provider asks for it again."),
    })
    .prefault({}),
  tlsCaFile: optionalText.describe("A PEM file with certificates to trust besides the system's."),
  allowFrom: z
    .array(z.string().trim().toLowerCase())
    .default([])
    .describe("Addresses of who may write. Empty: strangers get a pairing code. `*`: anyone."),
  authservId: optionalText.describe(
    "The name in your own server's `Authentication-Results`. Without it the signatures of mails are checked here.",
  ),
  verifySender: z
    .enum(["required", "off"])
    .default("required")
    .describe("`required`: a sender has to be proven. `off`: the `From` line is believed, and anyone can write it."),
  session: z
    .enum(["thread", "sender"])
    .default("thread")
    .describe("What is one conversation: each `thread`, or all mail of a `sender`."),
  autoReplyEnabled: flag(true).describe(
    "Answers are sent. Off: mail is read and answered in its conversation here, and nothing is sent.",
  ),
  pollIntervalSeconds: whole(5, 86_400, 30).meta({
    description: "How often to look for new mail, if the server does not announce it by itself.",
    unit: "seconds",
  }),
  markSeen: flag(true).describe("Mark accepted mail as read."),
  sentMailbox: optionalText.describe(
    "The folder with copies of sent mail. Without it: the one that the server marks as such.",
  ),
  sentCopy: z
    .enum(["auto", "never"])
    .default("auto")
    .describe("`auto`: put a copy there unless the server does it. `never`: no copy."),
  hourlyPerSender: whole(1, 10_000, 20).meta({
    description: "How many mails of one sender are accepted in an hour.",
    unit: "mails an hour",
  }),
});
export type EmailSection = z.output<typeof email>;

/** What people call the keys, in English and in Chinese. */
export const emailLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to the mailbox", "连接邮箱"],
  consentGranted: ["The owner of the mailbox agrees", "邮箱主人已同意"],
  imapHost: ["Receiving: server", "收信：服务器"],
  imapPort: ["Receiving: port", "收信：端口"],
  imapUsername: ["Receiving: user name", "收信：用户名"],
  imapPassword: ["Receiving: password", "收信：密码"],
  imapMailbox: ["Receiving: folder", "收信：文件夹"],
  imapUseSSL: ["Receiving: encrypted from the start", "收信：从一开始加密"],
  imapUseTLS: ["Receiving: encrypted before the login", "收信：登录前加密"],
  smtpHost: ["Sending: server", "发信：服务器"],
  smtpPort: ["Sending: port", "发信：端口"],
  smtpUsername: ["Sending: user name", "发信：用户名"],
  smtpPassword: ["Sending: password", "发信：密码"],
  smtpUseTLS: ["Sending: encrypted before the login", "发信：登录前加密"],
  smtpUseSSL: ["Sending: encrypted from the start", "发信：从一开始加密"],
  fromAddress: ["Address of the assistant", "助手的地址"],
  accessToken: ["Login by OAuth2: token", "OAuth2 登录：令牌"],
  accessTokenFile: ["Login by OAuth2: file with the token", "OAuth2 登录：令牌文件"],
  "oauth.tokenUrl": ["Login by OAuth2: where tokens are renewed", "OAuth2 登录：更新令牌的地址"],
  "oauth.clientId": ["Login by OAuth2: your application", "OAuth2 登录：您的应用"],
  "oauth.clientSecret": ["Login by OAuth2: its secret", "OAuth2 登录：应用的密钥"],
  "oauth.refreshToken": ["Login by OAuth2: token of your login", "OAuth2 登录：您登录的令牌"],
  "oauth.scope": ["Login by OAuth2: what it is for", "OAuth2 登录：用途"],
  tlsCaFile: ["File with more certificates", "更多证书的文件"],
  allowFrom: ["Addresses that may write", "可以来信的地址"],
  authservId: ["Name of your server in its checks", "您的服务器在验证结果中的名称"],
  verifySender: ["Proof of who sent a mail", "发件人验证"],
  session: ["What is one conversation", "什么算一个对话"],
  autoReplyEnabled: ["Send answers by mail", "用邮件发送回复"],
  pollIntervalSeconds: ["Look for new mail every", "查看新邮件的间隔"],
  markSeen: ["Mark mail as read", "标为已读"],
  sentMailbox: ["Folder for sent mail", "已发送文件夹"],
  sentCopy: ["Copies of sent mail", "已发送邮件的副本"],
  hourlyPerSender: ["Mails of one sender", "每个发件人的邮件数"],
};

/** What the keys mean, in Chinese. */
export const emailMeanings: Readonly<Record<string, string>> = {
  enabled: "连接邮箱。",
  consentGranted: "邮箱主人同意由程序读取邮件。否则不会连接。",
  imapHost: "收信服务器。",
  imapPort: "该服务器的端口。",
  imapUsername: "在该服务器上的用户名。",
  imapPassword: "在该服务器上的密码。若服务商提供应用专用密码，请使用它。",
  imapMailbox: "要读取的邮箱文件夹。",
  imapUseSSL: "连接从一开始就加密。",
  imapUseTLS: "未从一开始加密时，在登录前转为加密（STARTTLS）。关闭：途中一切可被读取。",
  smtpHost: "发信服务器。",
  smtpPort: "该服务器的端口。",
  smtpUsername: "在该服务器上的用户名。未设置时不登录直接发信。",
  smtpPassword: "在该服务器上的密码。",
  smtpUseTLS: "登录前转为加密连接（STARTTLS）。关闭：途中一切可被读取。",
  smtpUseSSL: "连接从一开始就加密，如 465 端口。",
  fromAddress: "人们写信的地址。未设置时用邮箱的用户名。",
  accessToken: "代替密码的 OAuth2 令牌。",
  accessTokenFile: "始终保存最新令牌的文件，每次登录时读取。",
  "oauth.tokenUrl": "更新访问令牌的地址。",
  "oauth.clientId": "您注册的应用的 id。",
  "oauth.clientSecret": "该应用的密钥（如有）。",
  "oauth.refreshToken": "您登录后得到的令牌。设置后即启用 OAuth2。",
  "oauth.scope": "登录的用途，服务商再次要求时使用。",
  tlsCaFile: "除系统证书外还信任的证书文件（PEM）。",
  allowFrom: "可以写信的地址。留空：陌生人会收到配对码。`*`：任何人。",
  authservId: "您自己的服务器在 `Authentication-Results` 中的名称。未设置时在这里检查邮件签名。",
  verifySender: "`required`：发件人必须经过验证。`off`：相信 `From` 行，而任何人都能伪造它。",
  session: "什么算一个对话：每个主题（`thread`），或一个发件人的所有邮件（`sender`）。",
  autoReplyEnabled: "发送回复。关闭：邮件只在这里的对话中回答，不发出任何邮件。",
  pollIntervalSeconds: "服务器不主动通知时，多久查看一次新邮件。",
  markSeen: "将接受的邮件标为已读。",
  sentMailbox: "保存已发送邮件副本的文件夹。未设置时用服务器标记的文件夹。",
  sentCopy: "`auto`：若服务器不保存副本则由网关保存。`never`：不保存副本。",
  hourlyPerSender: "一小时内接受一个发件人多少封邮件。",
};
