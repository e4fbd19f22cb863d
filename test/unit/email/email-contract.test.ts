import { after, before } from "node:test";
import type { ChannelContext } from "../../../src/channels/channel.js";
import { createEmailChannel } from "../../../src/channels/email/email.js";
import { accountOf } from "../../../src/channels/email/options.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { openMailProxy } from "../../support/fakes/mail/mail-proxy.js";
import { type MailServer, startMailServer, withoutMailServer } from "../../support/fakes/mail/mail-server.js";
import { createRecords, emailOptions, openMailbox, signed, writeMail } from "../../support/worlds/channels/mail-kit.js";

const missing = withoutMailServer();
const shared: { server?: MailServer; count: number } = { count: 0 };
before(async () => {
  if (missing === false) shared.server = await startMailServer();
});
after(() => shared.server?.[Symbol.asyncDispose]());

testChannelContract(
  "email",
  async () => {
    const { server } = shared;
    if (server === undefined) throw new Error("The mail server did not start");
    const name = `bot-${++shared.count}`;
    const bot = server.addBox(name);
    const mailbox = await openMailbox(server, name);
    const smtp = await openMailProxy(server.smtpPort);
    const imap = await openMailProxy(server.imapPort);
    const validity = mailbox.client.mailbox === false ? "" : String(mailbox.client.mailbox.uidValidity);
    const open = (
      password: string,
      cursor: (name: string) => Promise<string | undefined> = async () => undefined,
      actsAtOnce?: ChannelContext["actsAtOnce"],
    ) => {
      const options = emailOptions(server, name, silentLog, {
        imap: { port: imap.port, password },
        smtp: { port: smtp.port },
      });
      const records = createRecords();
      // As if the empty mailbox had been read before.
      void records.put(`position:${accountOf(options.imap)}`, { validity, uid: 0 });
      return createEmailChannel(options, { cursor, records, actsAtOnce, sendTimeoutMs: 3000 });
    };
    // In order, however long each takes to be signed.
    let writing: Promise<unknown> = Promise.resolve();
    return {
      open: (cursor, actsAtOnce) => open(server.password, cursor, actsAtOnce),
      openWithWrongSecret: () => open("wrong-secret"),
      secrets: [server.password, "wrong-secret"],
      chats: [server.addBox(`ann-${shared.count}`), server.addBox(`bob-${shared.count}`)],
      write(chatId, text) {
        const raw = writeMail({ from: chatId, to: bot, text, messageId: `${text}-${Date.now()}@${server.domain}` });
        writing = Promise.all([signed(raw), writing]).then(([mail]) => mailbox.put(mail));
      },
      shown: () => smtp.taken.map(shownMail),
      longestMessage: Number.POSITIVE_INFINITY,
      lengthOf: (piece) => piece.length,
      refuseNextSend: (how) => smtp.failNextMail(how === "for good" ? "for good" : "429"),
      cutNextSend: () => smtp.failNextMail("cut-before"),
      hangNextSend: () => smtp.failNextMail("hang"),
      loseConnection: () => imap.cut(),
      async [Symbol.asyncDispose]() {
        await mailbox[Symbol.asyncDispose]();
        await smtp[Symbol.asyncDispose]();
        await imap[Symbol.asyncDispose]();
      },
    };
  },
  missing,
);

/** The addressee and the plain text of a mail of ours, read without waiting. */
function shownMail(raw: string): { readonly chatId: string; readonly text: string } {
  const [, chatId = ""] = /^To: <?([^>\r\n]+)/m.exec(raw) ?? [];
  const [, head = "", body = ""] = /(Content-Type: text\/plain[\s\S]*?)\r\n\r\n([\s\S]*?)\r\n--/.exec(raw) ?? [];
  const plain = /quoted-printable/.test(head)
    ? body.replace(/=\r\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : body;
  return { chatId, text: plain.trim() };
}
