// A chat platform for maxclaw, as an extension. Replace what is said about the wire by what your platform wants:
//
//   GET  <apiRoot>/updates?after=<n>&wait=<s>  {updates: [{n, kind: "message" | "press", id, chat, from, name, text}]}
//   POST <apiRoot>/messages           {key, chat, text, buttons: [{label, value}]}  →  {id}
//   POST <apiRoot>/edits              {id, text}
//   POST <apiRoot>/pressed            {press, text, isLoud}
//
// Each call carries the token. docs/extensions.md and docs/new-channel.md of maxclaw say more.

const name = "my-chat";
const title = "My chat";
const longestMessage = 4000;
/** So long the platform holds a call open when there is nothing new. */
const pollSeconds = 50;

/**
 * @typedef {object} Settings
 * @property {string} apiRoot
 * @property {string} token
 * @property {number} busyRetryMs
 */

/**
 * @typedef {object} Update
 * @property {number} n
 * @property {string} kind
 * @property {string} id
 * @property {string} chat
 * @property {string} from
 * @property {string | undefined} [name]
 * @property {string} text
 */

/** @type {import("maxclaw").ExtensionFactory} */
export default (tools) => {
  const { z, options } = tools;
  const settings = z
    .object({ apiRoot: z.string(), token: z.string().min(1), busyRetryMs: z.number().default(1000) })
    .parse(options);
  return { channels: ({ forChannel }) => [new MyChat(settings, forChannel(name), tools)] };
};

/** What `Channel` of the package promises. */
export class MyChat {
  name = name;
  maxButtons = 8;
  liveEditMs = 1500;
  #settings;
  #context;
  #tools;
  #update;

  /**
   * @param {Settings} settings
   * @param {import("maxclaw").OwnChannelContext} context
   * @param {Pick<import("maxclaw").ExtensionContext, "z" | "errors" | "log" | "channelKit">} tools
   */
  constructor(settings, context, tools) {
    const { z } = tools;
    this.#settings = settings;
    this.#context = context;
    this.#tools = tools;
    this.#update = z.object({
      n: z.number(),
      kind: z.string(),
      id: z.string(),
      chat: z.string(),
      from: z.string(),
      name: z.string().optional(),
      text: z.string(),
    });
  }

  /**
   * Ends when the signal aborts; throws when the connection is lost, and is run again then.
   *
   * @param {import("maxclaw").Publish} publish
   * @param {() => void} onConnected
   * @param {AbortSignal} signal
   */
  async run(publish, onConnected, signal) {
    const { channelKit, log, z } = this.#tools;
    const { records, actsAtOnce } = this.#context;
    const { busyRetryMs } = this.#settings;
    /** @type {import("maxclaw").InboxOptions["tell"]} */
    const tell = async ({ chatId, platformMessageId = "" }, text) => {
      await this.#post(
        "messages",
        { key: `notice ${platformMessageId} ${text.length}`, chat: chatId, text, buttons: [] },
        signal,
      );
    };
    const inbox = new channelKit.Inbox({ title, publish, actsAtOnce, tell, busyRetryMs, log }, signal);
    // What is durable without a gap: an update is asked for again until then.
    const position = new channelKit.Position();
    let after = z.number().catch(0).parse(records.get("position"));
    try {
      // The first call does not wait: once it is answered, the connection is known to work.
      for (let wait = 0; !signal.aborted; wait = pollSeconds) {
        const updates = await this.#poll(after, wait, signal);
        onConnected();
        for (const update of updates) {
          after = update.n;
          const settled = position.begin(update.n);
          this.#take(update, inbox, signal)
            .then(async (isTaken) => {
              if (!isTaken) return;
              settled();
              await records.put("position", position.value ?? 0);
            })
            .catch((error) => log.warn(`${title}: an update was not settled`, { error }));
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await inbox.settled();
    }
  }

  /** @param {string} content */
  split(content) {
    return this.#tools.channelKit.splitMarkdown(content, longestMessage);
  }

  /**
   * The platform leaves out a message whose `key` it has seen: so nothing is shown twice. Without such a key, offer `find`.
   *
   * @param {import("maxclaw").OutboundMessage} message
   * @param {AbortSignal} signal
   */
  async send({ id, chatId, content, buttons = [] }, signal) {
    const { z } = this.#tools;
    const answer = await this.#post("messages", { key: id, chat: chatId, text: content, buttons }, signal);
    return { platformMessageId: z.object({ id: z.string() }).parse(answer).id };
  }

  /**
   * @param {{ readonly platformMessageId: string, readonly content: string }} message
   * @param {AbortSignal} signal
   */
  async edit({ platformMessageId, content }, signal) {
    await this.#post("edits", { id: platformMessageId, text: content }, signal);
  }

  /**
   * True: it is settled, and need not come again.
   *
   * @param {Update} update
   * @param {import("maxclaw").Inbox} inbox
   * @param {AbortSignal} signal
   */
  async #take({ kind, id, chat, from, name: senderName, text }, inbox, signal) {
    if (kind === "press") {
      const { status, text: said } = await this.#context.press({
        chatId: chat,
        chatType: "dm",
        senderId: from,
        senderName,
        value: text,
      });
      await this.#post("pressed", { press: id, text: said, isLoud: status !== "taken" }, signal);
      return true;
    }
    const taken = await inbox.take({
      chatId: chat,
      chatType: "dm",
      addressed: true,
      senderId: from,
      senderName,
      content: text,
      platformMessageId: id,
      // A repeat is known by it, also after a restart.
      dedupId: `${name}:${id}`,
    });
    return taken !== undefined;
  }

  /**
   * @param {number} after
   * @param {number} wait
   * @param {AbortSignal} signal
   */
  async #poll(after, wait, signal) {
    const { channelKit, errors, z } = this.#tools;
    const { apiRoot, token } = this.#settings;
    const headers = { authorization: `Bearer ${token}` };
    const url = `${apiRoot}/updates?after=${after}&wait=${wait}`;
    const answer = await channelKit.callPlatform({ title, url, headers, timeoutMs: (wait + 15) * 1000 }, signal);
    // Trying again does not help: the supervisor looks again now and then.
    if (answer.status === 401)
      throw new errors.ChannelError(`${title} does not know this token. Correct options.token.`);
    if (answer.status !== 200) throw channelKit.statusError(title, answer);
    return z.object({ updates: z.array(this.#update) }).parse(channelKit.jsonOf(title, answer)).updates;
  }

  /**
   * @param {string} method
   * @param {object} body
   * @param {AbortSignal} signal
   */
  async #post(method, body, signal) {
    const { channelKit } = this.#tools;
    const { apiRoot, token } = this.#settings;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const call = {
      title,
      url: `${apiRoot}/${method}`,
      headers,
      body: JSON.stringify(body),
      timeoutMs: this.#context.sendTimeoutMs ?? 30_000,
    };
    const answer = await channelKit.callPlatform(call, signal);
    if (answer.status !== 200) throw channelKit.statusError(title, answer);
    return channelKit.jsonOf(title, answer);
  }
}
