import { z } from "zod";
import { accountPattern, platformNames } from "../../channels/platforms.js";
import { isSecretKey } from "../faults/wording.js";
import { isObject, type JsonObject } from "../substitute.js";

/** As people write it: below conversions, which take more than they should, is what is meant. */
const asWritten: z.core.ToJSONSchemaParams = {
  io: "input",
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }) {
    if (
      zodSchema instanceof z.ZodPipe &&
      zodSchema.in instanceof z.ZodTransform &&
      zodSchema.out instanceof z.ZodType
    ) {
      const { $schema: _, ...meant } = z.toJSONSchema(zodSchema.out, asWritten);
      Object.assign(jsonSchema, meant);
    }
    if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= Reflect.get(zodSchema.def, "defaultValue");
  },
};

/** For editors: what a config file can hold, without any default that could be a secret. */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const found: JsonObject = z.toJSONSchema(schema, asWritten);
  const properties = isObject(found.properties) ? found.properties : {};
  const own = { $schema: { type: "string" }, ...properties, channels: withAccounts(properties.channels) };
  const cleaned = withoutDefaults({ ...found, properties: own }, false);
  return isObject(cleaned) ? cleaned : {};
}

/** A further account has the section of its platform. */
function withAccounts(channels: unknown): unknown {
  const patterns = platformNames.map((name) => [
    accountPattern(name),
    { $ref: `#/properties/channels/properties/${name}` },
  ]);
  return { ...Object(channels), patternProperties: Object.fromEntries(patterns) };
}

function withoutDefaults(value: unknown, isSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutDefaults(entry, isSecret));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => !(isSecret && key === "default"));
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutDefaults(entry, isSecretKey(key))]));
}

/** The same for one value in it. */
export function jsonSchemaOfValue(schema: z.ZodType, isSecret: boolean): JsonObject {
  const { $schema: _, ...found } = z.toJSONSchema(schema, asWritten);
  const cleaned = withoutDefaults(found, isSecret);
  return isObject(cleaned) ? cleaned : {};
}
