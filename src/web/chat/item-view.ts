/** One item on the page. `update` keeps what the reader did: opened lines stay open. */
export interface ItemView<T> {
  readonly element: HTMLElement;
  update(item: T): void;
  /** The reader works in it: it is kept while its item is out of sight. */
  readonly isHeld?: boolean;
}
