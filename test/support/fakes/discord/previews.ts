/** https://discord.com/developers/docs/resources/message#message-object-message-flags */
const suppressEmbeds = 4;

/** Which texts Discord looks through for addresses, to show what is behind them. */
export class Previews {
  /** The texts of which it would look up the addresses. */
  readonly texts: string[] = [];
  /** What was said with each message of the bot, by its id. */
  readonly #flags = new Map<string, number>();

  keepFlags(id: string, flags: number): void {
    this.#flags.set(id, flags);
  }

  /** A text is shown as the message of this id. */
  lookUp(id: string, text: string, flags = this.#flags.get(id) ?? 0): void {
    if (text !== "" && (flags & suppressEmbeds) === 0) this.texts.push(text);
  }
}
