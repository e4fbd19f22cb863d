import type { Logger } from "../../../log.js";
import type { ReceivedFile } from "../../channel.js";
import type { TelegramFile } from "../files.js";
import type { Albums } from "./albums.js";
import { holdKey } from "./albums.js";
import type { Arrived, Intake } from "./intake.js";
import type { Parking } from "./parked.js";
import { parsePress, type TelegramPress } from "./press.js";
import { type BotIdentity, chatOf, parseUpdate } from "./update.js";

export interface ReceivingOptions {
  readonly intake: Intake;
  readonly albums: Albums;
  readonly parking: Pick<Parking, "load">;
  readonly bot: BotIdentity;
  readonly toFile: (file: TelegramFile) => ReceivedFile;
  /** Resolves once the press is durable or will not be taken. Never rejects. */
  readonly takePress: (press: TelegramPress) => Promise<void>;
  readonly log: Logger;
}

/** Reads updates and passes them on: presses, messages, and albums as one message. */
export class Receiving {
  readonly intake: Intake;
  readonly albums: Albums;
  readonly #options: ReceivingOptions;
  /** The update that began each album. */
  readonly #leads = new Map<string, number>();

  constructor(options: ReceivingOptions) {
    this.intake = options.intake;
    this.albums = options.albums;
    this.#options = options;
  }

  take(update: Arrived["update"]): void {
    if (!this.intake.has(update.update_id)) this.#take({ update, chatId: chatOf(update) });
  }

  /** Takes up what is parked and not known here, before anything that came later. */
  restore(): void {
    for (const one of this.#options.parking.load())
      if (!this.intake.isParkedToo(one.update.update_id)) this.#take({ ...one, isParked: true });
  }

  #take(arrived: Arrived): void {
    const { bot, toFile, takePress, log } = this.#options;
    const { update } = arrived;
    const { update_id: updateId } = update;
    const press = parsePress(update);
    if (press !== undefined) {
      this.intake.takeWork(arrived, () => takePress(press));
      return;
    }
    const parsed = parseUpdate(update, updateId, bot, toFile);
    if ("ignored" in parsed) {
      log.debug(`a Telegram update was ignored: ${parsed.ignored}`, { updateId });
      this.intake.skip(arrived);
      return;
    }
    const { message, album, damage } = parsed;
    if (damage !== undefined) log.warn(`a Telegram message cannot be read: ${damage}`, { updateId });
    if (album === undefined) {
      this.intake.take(arrived, message);
      return;
    }
    const after = arrived.isParked === true ? arrived.after : this.albums.passedOn(album);
    const key = holdKey(album, after);
    const whole = this.albums.add(album, message, after);
    if (whole === undefined) {
      this.intake.join({ ...arrived, after }, this.#leads.get(key) ?? updateId, message);
      return;
    }
    this.#leads.set(key, updateId);
    this.intake.take({ ...arrived, after }, whole, message);
    void whole.catch(() => undefined).then(() => this.#leads.delete(key));
  }
}
