import { z } from "zod";
import { optionalText } from "../values.js";

export const engine = z.strictObject({
  kind: z
    .enum(["embedded", "postgres"])
    .default("embedded")
    .describe(
      "What keeps your work safe over a restart: files of this machine (`embedded`), or a database (`postgres`).",
    ),
  url: optionalText
    .refine(
      (url) => url === undefined || /^postgres(?:ql)?:\/\/\S+$/.test(url),
      "postgresql://user:password@host/database",
    )
    .describe(
      "The database for `postgres`, for example `postgresql://maxclaw:PASSWORD@db.example.org/maxclaw`. The password counts as a secret; write signs in it as in any address, for example `%40` for @.",
    ),
  schema: z
    .string()
    .trim()
    .regex(/^[a-z_][a-z0-9_]{0,39}$/, "a name of small letters, digits and _, at most 40 long")
    .default("maxclaw")
    .describe("The schema in that database. Gateways with the same database and schema work together."),
});
