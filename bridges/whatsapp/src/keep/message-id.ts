import { createHash, randomBytes } from "node:crypto";

export interface Named {
  readonly id?: string | undefined;
  readonly to: string;
  readonly text: string;
  readonly file?: { readonly name: string } | undefined;
}

/**
 * The id that WhatsApp's devices know a message by. The same delivery of the gateway always gets the same one, so that a
 * repeat is one for them too; its text counts, because two notices about one message have one id. It looks like the ids of
 * WhatsApp's own web page.
 */
export function messageIdOf({ id, to, text, file }: Named): string {
  const whole = JSON.stringify([id, to, text, file?.name]);
  const bytes = id === undefined ? randomBytes(9) : createHash("sha256").update(whole).digest().subarray(0, 9);
  return `3EB0${bytes.toString("hex").toUpperCase()}`;
}
