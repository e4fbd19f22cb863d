import { z } from "zod";
import { invitationLink, placeOf, signIn, takeCookies } from "../access/sign-in.js";
import { bodyOf, type Exchange, paramOf, sendJson } from "../exchange.js";
import { noToken } from "../guard.js";
import type { Route } from "./routes.js";

const device = z.string().max(200).optional();
const loginBody = z.object({ token: z.string().min(1).max(10_000), device });
const joinBody = z.object({ code: z.string().min(1).max(200), device });
const renameBody = z.object({ name: z.string().trim().min(1).max(200) });

/** Signing in and out, and the devices that are signed in. */
export const deviceRoutes: readonly Route[] = [
  { method: "POST", path: "/api/login", isOpen: true, handle: login },
  { method: "POST", path: "/api/join", isOpen: true, handle: join },
  { method: "POST", path: "/api/logout", isOpen: true, handle: logout },
  { method: "GET", path: "/api/devices", handle: list },
  { method: "POST", path: "/api/devices/invite", handle: invite },
  {
    method: "POST",
    path: "/api/devices/:id/rename",
    handle: async (x) => {
      const { name } = await bodyOf(x, renameBody);
      sendJson(x.response, 200, { device: await x.api.devices.rename(paramOf(x, "id"), name) });
    },
  },
  {
    method: "DELETE",
    path: "/api/devices/:id",
    handle: async (x) => {
      const id = paramOf(x, "id");
      await x.api.devices.remove(id);
      if (id === x.caller.device?.id) takeCookies(x.response, placeOf(x));
      sendJson(x.response, 200, { ok: true });
    },
  },
];

async function login(x: Exchange): Promise<void> {
  const { token, device: name } = await bodyOf(x, loginBody);
  await x.guard.checkToken(x.request, token, x.signal);
  const signedIn = await signIn(x, (visit) => x.api.devices.signIn({ ...visit, name }));
  sendJson(x.response, 200, { device: signedIn });
}

async function join(x: Exchange): Promise<void> {
  const { code, device: name } = await bodyOf(x, joinBody);
  if (x.settings.token === undefined) throw noToken();
  const signedIn = await signIn(x, (visit) => x.api.devices.join(code, { ...visit, name }));
  const wrong = "This invitation is not valid any more. It works once, for ten minutes. Make a new one.";
  if (signedIn === undefined) throw await x.guard.wrongTry(x.request, wrong, x.signal);
  sendJson(x.response, 200, { device: signedIn });
}

/** Also for who is signed out already, by another tab. */
async function logout(x: Exchange): Promise<void> {
  const before = await x.guard.deviceOf(x.request);
  if (before !== undefined && x.api.devices.isKnown(before.id)) await x.api.devices.remove(before.id);
  takeCookies(x.response, placeOf(x));
  sendJson(x.response, 200, { ok: true });
}

async function list(x: Exchange): Promise<void> {
  const needsToken = x.settings.token !== undefined;
  const devices = needsToken ? await x.api.devices.list() : [];
  const current = x.caller.device?.id;
  sendJson(x.response, 200, {
    needsToken,
    devices: devices.map((each) => ({ ...each, current: each.id === current })),
  });
}

async function invite(x: Exchange): Promise<void> {
  if (x.settings.token === undefined) throw noToken();
  const { code, expiresAt } = await x.api.devices.invite();
  sendJson(x.response, 200, { expiresAt, ...invitationLink(x, code) });
}
