import { platformOf, tryPlatform } from "../../../channels/platforms.js";
import { ChannelError, messageOf } from "../../../errors.js";
import { silentLog } from "../../../log.js";
import { within } from "../../../util/async/within.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

const limitMs = 15_000;

/** Logs in once at each channel that is on, beside a gateway that runs. */
export const channelsCheck: Check = {
  name: "channels",
  isLive: true,
  async run({ loaded, home }, signal) {
    const { channels } = loaded.config;
    const tryOne = async (name: string): Promise<readonly Finding[]> => {
      if (platformOf(name) === undefined) return [];
      const late = (): Error => new Error(findingSentence("no_answer", { seconds: limitMs / 1000 }));
      try {
        const trying = tryPlatform(name, channels, { home, log: silentLog }, signal);
        const tried = await within(trying, { ms: limitMs, signal, late });
        // A door of our own: whether it can be opened is a question of its port.
        return tried?.isDoor === true ? [] : [{ level: "ok", found: findingSentence("channel_fine", { name }) }];
      } catch (error) {
        signal.throwIfAborted();
        return [
          {
            level: "fail",
            found:
              error instanceof ChannelError
                ? error.message
                : findingSentence("channel_refuses", { name, reason: messageOf(error) }),
            todo: findingSentence("channel_todo", { name }),
          },
        ];
      }
    };
    const names = Object.entries(channels).flatMap(([name, section]) => (section?.enabled === true ? [name] : []));
    if (names.length === 0) return [{ level: "ok", found: findingSentence("no_channels") }];
    return (await Promise.all(names.map(tryOne))).flat();
  },
};
