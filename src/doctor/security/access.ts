import { risksOf } from "../../channels/platforms.js";
import { isLoopback } from "../../util/loopback.js";
import { findingSentence } from "../../util/words/finding-sentences.js";
import type { Check, Finding } from "../check.js";

const shortestToken = 16;

/** Who can reach the gateway, and what keeps strangers away from it. */
export const accessCheck: Check = {
  name: "access",
  readsConfig: true,
  async run({ loaded, gateway }) {
    const { gateway: settings, channels } = loaded.config;
    const { token, host, allowedOrigins } = settings;
    const found: Finding[] = [];
    const bound = gateway.state === "running" ? gateway.address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "") : host;
    if (token === undefined)
      found.push({
        level: "warn",
        found: findingSentence("no_token"),
        todo: findingSentence("no_token_todo"),
      });
    else if (isWeak(token))
      found.push({
        level: isLoopback(bound) ? "warn" : "fail",
        found: findingSentence("weak_token"),
        todo: findingSentence("weak_token_todo"),
      });
    if (!isLoopback(host) || !isLoopback(bound))
      found.push({
        level: "warn",
        found: findingSentence("reachable", { host: isLoopback(host) ? bound : host }),
        todo: findingSentence("reachable_todo"),
      });
    if (allowedOrigins.includes("*"))
      found.push({
        level: "fail",
        found: findingSentence("any_origin"),
        todo: findingSentence("any_origin_todo"),
      });
    for (const name of Object.keys(channels))
      for (const { about: _, ...risk } of risksOf(name, channels, "access")) found.push(risk);
    return found.length > 0 ? found : [{ level: "ok", found: findingSentence("access_fine") }];
  },
};

/** Short, or of few different characters. */
function isWeak(token: string): boolean {
  return (
    token.length < shortestToken ||
    new Set(token).size < 8 ||
    /^(change-?me|password|secret|token|maxclaw)/i.test(token)
  );
}
