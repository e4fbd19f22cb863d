/** One item on the page. `update` keeps what the reader did: opened lines stay open. */
export interface ItemView<T> {
  readonly element: HTMLElement;
  update(item: T): void;
}
