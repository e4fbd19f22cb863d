/** Of an account, in characters, with the platform before it. */
export const longestName = 40;

interface Named {
  readonly name: string;
  readonly platform: string;
}

/** The name of a further account from what a person calls it: `slack-acme-shop` for “Acme Shop”. Undefined where no name comes of it. */
export function accountName(platform: string, word: string): string | undefined {
  const plain = word
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "");
  const own = plain.join("-").startsWith(`${platform}-`) ? plain.slice(platform.split("-").length) : plain;
  const name = [platform, ...own].join("-");
  return own.length === 0 || name.length > longestName ? undefined : name;
}

/** Whether no channel has it, and it does not mean an account on a platform with a longer name, as `whatsapp-business-shop` does. */
export function isFree(name: string, platform: string, channels: readonly Named[]): boolean {
  const isOther = (one: string): boolean => one.length > platform.length && `${name}-`.startsWith(`${one}-`);
  return channels.every((one) => one.name !== name && (one.name !== one.platform || !isOther(one.name)));
}
