// Small wrong turns of the channels.
const telegramError = "src/channels/telegram/telegram-error.ts";
const discordError = "src/channels/discord/discord-error.ts";
const clientAddress = "src/channels/email/auth/client-address.ts";
const supervisor = "src/channels/supervisor.ts";
const cut = "src/channels/formatting/cut.ts";
const door = "src/channels/websocket/door.ts";
const telegramTest = "unit/telegram/telegram-send";
const supervisorTest = "unit/channels/supervisor";
const formattingTest = "unit/channels/formatting";
const refusalTest = "unit/discord/discord-refusals";
const websocketTest = "unit/channels/websocket-channel";

export const mutations = [
  // What a failed send means.
  [telegramError, `code === 400 || code === 413 ||`, `code === 413 ||`, telegramTest],
  [telegramError, `return hadLeft(error)`, `return !hadLeft(error)`, telegramTest],
  [telegramError, `seconds * 1000`, `seconds`, telegramTest],
  [telegramError, `error.description.includes("can't parse entities")`, `error.description === ""`, telegramTest],
  [discordError, `(status !== 403 && status !== 404) || code !== 0`, `true`, refusalTest],
  [discordError, `50_001, 50_007, 50_013]`, `50_001, 50_007]`, refusalTest],
  // A lost connection.
  [
    supervisor,
    `connectedAt !== undefined && Date.now() - connectedAt >= stableMs`,
    `connectedAt !== undefined`,
    supervisorTest,
  ],
  [supervisor, `Math.max(named, refusal.slowMs ?? waitMs)`, `refusal.slowMs ?? waitMs`, supervisorTest],
  [supervisor, `isLasting || !this.#wasConnected`, `isLasting`, supervisorTest],
  [supervisor, `      watch.heard();\n`, ``, supervisorTest],
  // Where a long text is cut.
  [cut, ` && !isRule && !wasRule)`, `)`, formattingTest],
  [cut, `return isPair ?`, `return !isPair ?`, formattingTest],
  // Who may connect, and who has sent it.
  [door, `origin !== undefined && !allowOrigins.includes(origin)`, `origin === ""`, websocketTest],
  [door, ` && isSameSecret(shown, token)) return undefined;`, `) return undefined;`, websocketTest],
  [clientAddress, `|| others.length > 0 || `, `|| `, "unit/email/email-sender"],
];
