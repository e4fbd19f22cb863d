import { isPlatformName, tryPlatform } from "../../../channels/platforms.js";
import { ChannelError, messageOf } from "../../../errors.js";
import { silentLog } from "../../../log.js";
import { within } from "../../../util/async/within.js";
import type { Check, Finding } from "../../check.js";

const limitMs = 15_000;

/** Logs in once at each channel that is on, beside a gateway that runs. */
export const channelsCheck: Check = {
  name: "channels",
  isLive: true,
  async run({ loaded, home }, signal) {
    const { channels } = loaded.config;
    const tryOne = async (name: string): Promise<readonly Finding[]> => {
      if (!isPlatformName(name)) return [];
      const late = (): Error => new Error(`no answer within ${limitMs / 1000} s`);
      try {
        const trying = tryPlatform(name, channels, { home, log: silentLog }, signal);
        const tried = await within(trying, { ms: limitMs, signal, late });
        // A door of our own: whether it can be opened is a question of its port.
        return tried?.isDoor === true ? [] : [{ level: "ok", found: `${name} lets us in` }];
      } catch (error) {
        signal.throwIfAborted();
        return [
          {
            level: "fail",
            found: error instanceof ChannelError ? error.message : `${name} does not let us in: ${messageOf(error)}`,
            todo: `Check channels.${name} and the network`,
          },
        ];
      }
    };
    const names = Object.entries(channels).flatMap(([name, section]) => (section?.enabled === true ? [name] : []));
    if (names.length === 0) return [{ level: "ok", found: "No channel is on: the page and the terminal are there" }];
    return (await Promise.all(names.map(tryOne))).flat();
  },
};
