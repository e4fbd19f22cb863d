import type { ChannelRecords } from "../../channels/channel.js";
import type { Engine } from "../../engine/engine.js";

/**
 * The records of channels. Who makes a channel names it, and gets its records at once; they are open once `opened`
 * resolves, which is before any channel runs.
 */
export class OpeningRecords {
  readonly #engine: Pick<Engine, "records">;
  readonly #opening: Promise<void>[] = [];

  constructor(engine: Pick<Engine, "records">) {
    this.#engine = engine;
  }

  of(name: string): ChannelRecords {
    const kind = `channel_${name}`;
    let view: ChannelRecords | undefined;
    const opened = (): ChannelRecords => {
      if (view === undefined)
        throw new Error(`The records of the channel ${name} can be read once it runs, not before.`);
      return view;
    };
    const opening = this.#engine.records.open(kind).then((records) => {
      view = records;
    });
    // Anyone who waits for all of them hears about it.
    opening.catch(() => undefined);
    this.#opening.push(opening);
    return {
      get: (id) => opened().get(id),
      list: () => opened().list(),
      put: (id, value) => opened().put(id, value),
      delete: (id) => opened().delete(id),
    };
  }

  async opened(): Promise<void> {
    await Promise.all(this.#opening);
  }
}
