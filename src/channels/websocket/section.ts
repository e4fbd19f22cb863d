import { z } from "zod";
import { flag, ids, optionalText, whole } from "../../config/values.js";

/** A door for other programs. */
export const websocket = z.strictObject({
  enabled: flag(false),
  /** Any other than loopback makes the token necessary. */
  host: z.string().trim().min(1, "an address such as 127.0.0.1").default("127.0.0.1"),
  port: whole(0, 65_535, 18_791),
  path: z
    .string()
    .trim()
    .regex(/^\/[^?#\s]*$/, "a path such as /ws")
    .default("/ws"),
  /** Programs show it when they connect. */
  token: optionalText,
  /** Origins of web pages that may connect; programs send none. */
  allowOrigins: z.array(z.string().trim()).default([]),
  allowFrom: ids,
  allowGroups: ids,
});

export type WebSocketSection = z.output<typeof websocket>;
