/** A message of the assistant on a platform. */
export interface FakeShown {
  readonly id: string;
  readonly chatId: string;
  readonly thread: string | undefined;
  text: string;
  readonly files: readonly { readonly filename: string; readonly bytes: Buffer }[];
  buttons: readonly { readonly label: string; readonly value: string }[];
}

type NewMessage = Pick<FakeShown, "chatId" | "text"> & Partial<Omit<FakeShown, "id">>;

/** What people see of the assistant: messages as they are after their edits, and each showing that there was. */
export class FakeChats {
  readonly all: FakeShown[] = [];
  readonly #showings: { readonly chatId: string; readonly text: string }[] = [];
  readonly #byKey = new Map<string, string>();

  /** `key`: of platforms that leave out a message with a key that they have seen. Returns the message's id. */
  show({ chatId, text, thread, files = [], buttons = [] }: NewMessage, key?: string): string {
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (known !== undefined) return known;
    const id = `m${this.all.length + 1}`;
    if (key !== undefined) this.#byKey.set(key, id);
    this.all.push({ id, chatId, thread, text, files, buttons });
    for (const shown of [...(text === "" ? [] : [text]), ...files.map(({ filename }) => filename)])
      this.#showings.push({ chatId, text: shown });
    return id;
  }

  /** Puts another text into it and takes its buttons away. False: there is no such message. */
  edit(id: string, text: string): boolean {
    const found = this.all.find((one) => one.id === id);
    if (found === undefined) return false;
    found.text = text;
    found.buttons = [];
    return true;
  }

  in(chatId: string, thread?: string): readonly FakeShown[] {
    return this.all.filter((one) => one.chatId === chatId && one.thread === thread);
  }

  newest(chatId: string): FakeShown | undefined {
    return this.all.findLast((one) => one.chatId === chatId);
  }

  showings(chatId: string): readonly string[] {
    return this.#showings.filter((one) => one.chatId === chatId).map(({ text }) => text);
  }
}
