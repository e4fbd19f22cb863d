import type { IncomingMessage, ServerResponse } from "node:http";
import type { SignedIn } from "../../api/policy/devices-api.js";
import { isLoopback } from "../../util/loopback.js";
import type { Source } from "../../util/network/proxies.js";
import type { Exchange } from "../exchange.js";
import type { KnownDevice } from "../guard.js";
import { browserName } from "./browser-name.js";
import { cookieNameOf, cookieText } from "./cookies.js";
import type { Site } from "./site.js";

/** Lets a device in with a fresh secret. The one that the browser had before is signed out. */
export async function signIn(
  x: Exchange,
  enter: (visit: ReturnType<typeof visitOf>) => Promise<SignedIn | undefined>,
): Promise<SignedIn["device"] | undefined> {
  const place = placeOf(x);
  const before = await x.guard.deviceOf(x.request);
  const signedIn = await enter(visitOf(x.request, place.source));
  if (signedIn === undefined) return undefined;
  const { device, secret } = signedIn;
  giveCookie(x.response, place, { ...device, secret });
  if (before !== undefined && x.api.devices.isKnown(before.id)) await x.api.devices.remove(before.id);
  return device;
}

interface Place {
  readonly source: Source;
  readonly site: Site;
  readonly hasBase: boolean;
}

export function giveCookie(
  response: ServerResponse,
  place: Place,
  device: Omit<KnownDevice, "id" | "isRenewed">,
): void {
  const options = { path: pathOf(place), days: place.site.sessionDays, isSecure: device.isSecure };
  response.appendHeader(
    "Set-Cookie",
    cookieText(cookieNameOf(place.source.host, device.isSecure), device.secret, options),
  );
}

/** All that there may be: the base may have been set since, or TLS put in front. */
export function takeCookies(response: ServerResponse, place: Place): void {
  for (const path of new Set([pathOf(place), "/"]))
    for (const isSecure of [false, true]) {
      const name = cookieNameOf(place.source.host, isSecure);
      response.appendHeader("Set-Cookie", cookieText(name, "", { path, days: 0, isSecure }));
    }
}

function pathOf(place: Place): string {
  return baseIn(place) || "/";
}

/** A proxy of ours may have taken the base away. Who comes past it asks for what is at the top. */
function baseIn({ site, source, hasBase }: Place): string {
  return hasBase || source.isProxied ? site.basePath : "";
}

export function placeOf(x: Exchange): Place {
  return { source: x.guard.sourceOf(x.request), site: x.settings.site(), hasBase: x.target.hasBase };
}

/** What is in front of the gateway's paths for who asks. */
export function baseOf(x: Exchange): string {
  return baseIn(placeOf(x));
}

function visitOf({ headers }: IncomingMessage, source: Source) {
  return {
    address: source.address,
    browser: browserName(headers["user-agent"]),
    isSecure: protocolOf(headers.origin, source) === "https",
  };
}

/** As a trusted proxy says it, else as the browser names its page: that concerns nobody but the browser itself. */
function protocolOf(origin: string | undefined, { protocol, host }: Source): string {
  return protocol ?? (origin?.toLowerCase() === `https://${host}` ? "https" : "http");
}

/** The address that an invitation leads to, and why it may be of no use. The code is where no server's log has it. */
export function invitationLink(x: Exchange, code: string): { url: string; warning?: string } {
  const { source } = placeOf(x);
  const { publicUrl } = x.settings.site();
  const page = publicUrl ?? `${protocolOf(x.request.headers.origin, source)}://${source.host}${baseOf(x)}/`;
  const url = `${page}#join=${code}`;
  const { hostname } = new URL(page);
  // Who asks the gateway where it listens on every address names none.
  const isHere = isLoopback(hostname) || hostname === "0.0.0.0" || hostname === "[::]";
  if (!isHere) return { url };
  return {
    url,
    warning: "Only this machine can open this link. Set gateway.publicUrl to the address by which the phone gets here.",
  };
}
