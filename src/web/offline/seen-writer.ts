/** A chat as it was seen, as JSON: its length is what it takes. */
export interface KeptChat {
  readonly key: string;
  /** Unix ms of when it was kept. */
  readonly at: number;
  readonly json: string;
}

export interface KeptList {
  readonly at: number;
  readonly json: string;
}

/** Where it is kept. */
interface SeenStore {
  putChat(chat: KeptChat): Promise<void>;
  putList(at: number, json: string): Promise<void>;
  removeChat(key: string): Promise<void>;
  clear(): Promise<void>;
}

/** Changes what is kept of what was seen, one change after the other: nothing is written behind a {@link clear}. */
export class SeenWriter {
  readonly #open: () => Promise<SeenStore | undefined>;
  #changing: Promise<unknown> = Promise.resolve();
  #isOff = false;

  /** `open`: gives nothing where the browser keeps nothing. */
  constructor(open: () => Promise<SeenStore | undefined>) {
    this.#open = open;
  }

  /** Nobody is signed in. */
  get isOff(): boolean {
    return this.#isOff;
  }

  begin(): void {
    this.#isOff = false;
  }

  write(chat: KeptChat | undefined, list: KeptList | undefined): Promise<void> {
    return this.#inOrder(async (store) => {
      if (chat !== undefined && !this.#isOff) await store.putChat(chat);
      if (list !== undefined && !this.#isOff) await store.putList(list.at, list.json);
    });
  }

  forget(key: string): Promise<void> {
    return this.#inOrder((store) => store.removeChat(key));
  }

  /** Nothing of it stays, and nothing more is kept until the next {@link begin}. */
  clear(): Promise<void> {
    this.#isOff = true;
    return this.#inOrder((store) => store.clear());
  }

  #inOrder(change: (store: SeenStore) => Promise<void>): Promise<void> {
    const changed = this.#changing.then(this.#open).then((store) => (store === undefined ? undefined : change(store)));
    this.#changing = changed.catch(() => undefined);
    return changed;
  }
}
