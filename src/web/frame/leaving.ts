/** The end of a page whose device was signed out. It comes in all tabs of the browser, as each of them holds what was written there. */
export class Leaving {
  readonly #end: () => Promise<void>;
  readonly #tabs = new BroadcastChannel(`maxclaw signed out ${new URL(".", document.baseURI).pathname}`);
  #isUnderWay = false;

  constructor(end: () => Promise<void>) {
    this.#end = end;
    this.#tabs.addEventListener("message", () => this.#begin());
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  begin(): void {
    this.#tabs.postMessage("signed out");
    this.#begin();
  }

  #begin(): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    void this.#end();
  }
}
