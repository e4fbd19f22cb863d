import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";

const warnMs = 60_000;
/** From here on logins by OAuth, certificates and two-factor codes begin to fail. */
const failMs = 300_000;

/** Our clock beside that of the providers. */
export const clockCheck: Check = {
  name: "clock",
  isLive: true,
  async run({ providers, now }, signal) {
    const answers = providers.names.length === 0 ? [] : await providers.all(signal);
    const measured = answers.flatMap(({ name, skewMs }) => (skewMs === undefined ? [] : [{ name, skewMs }]));
    // One that is wrong itself does not decide where another one agrees with us.
    const [nearest] = measured.sort((a, b) => Math.abs(a.skewMs) - Math.abs(b.skewMs));
    if (nearest === undefined) {
      // Any program is younger than this.
      if (now() < Date.parse("2026-01-01"))
        return [
          { level: "fail", found: findingSentence("clock_strange", { time: new Date(now()).toISOString() }), todo },
        ];
      return [{ level: "ok", found: findingSentence("clock_alone") }];
    }
    const seconds = Math.round(Math.abs(nearest.skewMs) / 1000);
    if (Math.abs(nearest.skewMs) < warnMs)
      return [{ level: "ok", found: findingSentence("clock_fine", { name: nearest.name }) }];
    const code = nearest.skewMs > 0 ? "clock_behind" : "clock_ahead";
    const level = Math.abs(nearest.skewMs) < failMs ? "warn" : "fail";
    return [{ level, found: findingSentence(code, { seconds, name: nearest.name }), todo }];
  },
};

const todo = findingSentence("clock_todo");
