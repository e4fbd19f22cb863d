import { z } from "zod";

// Numbers and booleans also arrive as text, from ${NAME} and from YAML quotes.
const toNumber = (value: unknown): unknown =>
  typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
export const toFlag = (value: unknown): unknown => (value === "true" ? true : value === "false" ? false : value);

export const number = (schema: z.ZodNumber) => z.preprocess(toNumber, schema);
export const whole = (min: number, max: number, byDefault: number) =>
  number(z.number().int().min(min).max(max)).default(byDefault);
export const flag = (byDefault: boolean) => z.preprocess(toFlag, z.boolean()).default(byDefault);

/** A text that counts as absent when it is empty, as the Go maxclaw wrote what was never set. */
export const optionalText = z
  .string()
  .trim()
  .transform((value) => (value === "" ? undefined : value))
  .optional();
export const optionalAddress = z
  .string()
  .trim()
  .refine((value) => value === "" || /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value), "an address such as https://host/path")
  .transform((value) => (value === "" ? undefined : value))
  .optional();

/** An id as the platform gives it. People often leave out the quotes. */
const id = z
  .union([z.string(), z.number().int()], "a text, or a number below 2^53 (longer ones need quotes)")
  .transform((value) => String(value).trim());
export const ids = z.array(id).default([]);

/** What only somebody else's program knows to read. */
export const jsonValue = z
  .unknown()
  .refine((value) => z.json().safeParse(value).success, "a text, a number, true, false, a list or an object");
/** How much a model thinks before it answers: off, low, medium, high, or an upper bound in tokens. */
export const thinking = z.preprocess(
  toNumber,
  z.union(
    [z.enum(["off", "low", "medium", "high"]), z.number().int().min(1024).max(200_000)],
    "off, low, medium, high, or a number of tokens from 1024 on",
  ),
);

export const seconds = number(z.number().min(0.05).max(86_400));
