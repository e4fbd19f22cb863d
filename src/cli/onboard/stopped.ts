/** Somebody has pressed Ctrl+C or Escape: what is not kept by now is left as it was. */
export class Stopped extends Error {
  constructor() {
    super("Stopped");
    this.name = "Stopped";
  }
}
