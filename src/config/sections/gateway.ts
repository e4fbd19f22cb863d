import { z } from "zod";
import { basePath, proxyAddress, webAddress } from "../site-values.js";
import { whole } from "../values.js";

export const gateway = z.strictObject({
  host: z
    .string()
    .trim()
    .min(1, "an address such as 127.0.0.1")
    .default("127.0.0.1")
    .describe("The address where the gateway listens. Any address that others can reach makes the token necessary."),
  port: whole(0, 65535, 18890).describe("The port where the gateway listens. 0 takes any free port."),
  token: z
    .union([z.string(), z.number()], "a text")
    .transform((value) => String(value).trim() || undefined)
    .optional()
    .describe("The password of the gateway. Once it is set, every browser and program has to sign in with it."),
  allowedOrigins: z
    .array(z.string())
    .default([])
    .describe("Web pages elsewhere that may call the gateway, for example `https://chat.example.org`."),
  basePath: basePath.describe(
    "A path below which this page also is, for a proxy that serves other sites beside it, for example `/assistant`.",
  ),
  trustedProxies: z
    .array(proxyAddress)
    .default([])
    .describe(
      "Proxies that are believed when they say where a request comes from: addresses and networks, for example `127.0.0.1` or `10.0.0.0/8`.",
    ),
  publicUrl: webAddress.describe(
    "The address of this page from elsewhere, for example `https://chat.example.org/assistant/`. Invitations name it.",
  ),
  sessionDays: whole(1, 400, 90).meta({
    description: "A device that was not used for so long is signed out.",
    unit: "days",
  }),
});
