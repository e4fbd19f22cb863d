/** What is loaded the first time that it is needed. A load that fails is tried again the next time. */
export class Lazy<T> {
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | undefined;
  #value: T | undefined;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Undefined until it has been loaded. */
  get value(): T | undefined {
    return this.#value;
  }

  async get(): Promise<T> {
    this.#loading ??= this.#load();
    try {
      this.#value = await this.#loading;
      return this.#value;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }
}
