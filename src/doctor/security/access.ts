import { platformNames, risksOf } from "../../channels/platforms.js";
import { isLoopback } from "../../util/loopback.js";
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
        found: "There is no gateway.token: each account on this machine can use the gateway as its owner",
        todo: "Make one with openssl rand -hex 32, and set it as gateway.token or MAXCLAW_TOKEN",
      });
    else if (isWeak(token))
      found.push({
        level: isLoopback(bound) ? "warn" : "fail",
        found: "gateway.token can be guessed",
        todo: "Make one with openssl rand -hex 32",
      });
    if (!isLoopback(host) || !isLoopback(bound))
      found.push({
        level: "warn",
        found: `The gateway can be reached by other machines (${isLoopback(host) ? bound : host})`,
        todo: "Put a proxy with TLS in front of it, or set gateway.host to 127.0.0.1",
      });
    if (allowedOrigins.includes("*"))
      found.push({
        level: "fail",
        found: "gateway.allowedOrigins lets each web page call the gateway",
        todo: "Name the pages that may",
      });
    for (const name of platformNames)
      for (const { about: _, ...risk } of risksOf(name, channels, "access")) found.push(risk);
    return found.length > 0 ? found : [{ level: "ok", found: "The gateway is closed to strangers" }];
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
