/** Somebody on the HTTP door, who sends a message again with the same id until its answer has come. */
export class HttpPerson {
  readonly #sessionKey: string;
  #address: string | undefined;
  /** How often it has turned somewhere: also to the same place once more. */
  #turns = 0;
  #onAddress: (() => void)[] = [];
  /** Accepted one after the other: a later message goes out once the one before is acknowledged. */
  #last: Promise<void> = Promise.resolve();
  #pending = 0;
  #isGone = false;
  readonly #posts = new Set<Promise<unknown>>();
  #giveUp = new AbortController();
  readonly #acknowledged: string[] = [];
  readonly #answers: { readonly text: string; readonly answer: string }[] = [];

  constructor(sessionKey: string) {
    this.#sessionKey = sessionKey;
  }

  /** Texts that the gateway said it has taken. */
  get acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  /** In the order in which they came. */
  get answers(): readonly { readonly text: string; readonly answer: string }[] {
    return this.#answers;
  }

  /** Messages without an answer. */
  get pending(): number {
    return this.#pending;
  }

  /** Where the gateway listens now; undefined while it is down. What was answered last is sent once more. */
  moveTo(address: string | undefined): void {
    this.#address = address;
    if (address === undefined) return;
    this.#turns += 1;
    for (const resolve of this.#onAddress.splice(0)) resolve();
    void this.#repeatLast(address);
  }

  say(text: string): void {
    this.#pending += 1;
    this.#last = this.#last.then(
      () =>
        new Promise((onAcknowledged) => {
          void this.#deliver(text, onAcknowledged);
        }),
    );
  }

  /** Resolves once the connections to a process that has died are broken, and all that came over them was read. */
  async cut(): Promise<void> {
    this.moveTo(undefined);
    await Promise.allSettled(this.#posts);
  }

  /** Waits no longer for the gateway that it has asked, and asks another one. */
  turnTo(address: string): void {
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
    this.moveTo(address);
  }

  /** Nothing is sent again. */
  leave(): void {
    this.#isGone = true;
    for (const resolve of this.#onAddress.splice(0)) resolve();
  }

  /** Somebody who did not see the answer asks again: it is the same one, and nothing happens a second time. */
  async #repeatLast(address: string): Promise<void> {
    const last = this.#answers.at(-1);
    if (last === undefined) return;
    this.#pending += 1;
    const answer = await this.#post(address, last.text, () => {}).catch(() => undefined);
    this.#pending -= 1;
    if (answer !== undefined && answer !== last.answer) this.#answers.push({ text: last.text, answer });
  }

  async #deliver(text: string, onAcknowledged: () => void): Promise<void> {
    for (let last = 0; !this.#isGone; ) {
      await this.#turnedAfter(last);
      const address = this.#address;
      if (address === undefined) continue;
      last = this.#turns;
      const answer = await this.#post(address, text, onAcknowledged).catch(() => undefined);
      if (answer === undefined) continue;
      this.#answers.push({ text, answer });
      this.#pending -= 1;
      return;
    }
  }

  /** Resolves once it has turned somewhere after this turn, at which nothing came of it. */
  async #turnedAfter(turn: number): Promise<void> {
    while (!this.#isGone && (this.#address === undefined || this.#turns === turn))
      await new Promise<void>((resolve) => this.#onAddress.push(resolve));
  }

  #post(address: string, content: string, onAcknowledged: () => void): Promise<string | undefined> {
    const post = this.#answerOf(address, content, onAcknowledged).finally(() => this.#posts.delete(post));
    this.#posts.add(post);
    return post;
  }

  async #answerOf(address: string, content: string, onAcknowledged: () => void): Promise<string | undefined> {
    const messageId = `msg_${content.replace(/\W+/g, "_")}`;
    const response = await fetch(`http://${address}/api/message`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessionKey: this.#sessionKey, content, messageId, stream: true }),
      signal: this.#giveUp.signal,
    });
    if (response.body === null) return undefined;
    let seen = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
      seen += decoder.decode(piece, { stream: true });
      if (seen.includes('"message":"Accepted"')) {
        if (!this.#acknowledged.includes(content)) this.#acknowledged.push(content);
        onAcknowledged();
      }
    }
    const [, final] = /^data: (\{"type":"final".*)$/m.exec(seen) ?? [];
    return final === undefined ? undefined : (JSON.parse(final) as { readonly response: string }).response;
  }
}
