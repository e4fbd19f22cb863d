import { isRecord } from "../../../client/frames.js";
import { type Api, type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { saidIn } from "../../words/words.js";
import { changeSettings, readSettings, settingAt, textsAt } from "../setup/settings.js";
import { type ChannelField, toField } from "./fields.js";

export interface Channel {
  readonly name: string;
  readonly isOn: boolean;
  readonly state: string;
  readonly reason: string;
  readonly since: string;
  readonly lastSeenAt: string;
  /** Where it is an account; the same as `name` for the platform's own section, empty for a channel of an extension. */
  readonly platform: string;
  /** For people. */
  readonly title: string;
  /** What its owner must do; `scan`: what a phone must scan for it, or empty. */
  readonly toDo: { readonly text: string; readonly scan: string } | undefined;
  /** What is asked to set it up. None: the config file does that. */
  readonly fields: readonly ChannelField[];
}

export interface Person {
  readonly channel: string;
  readonly id: string;
  readonly name: string;
}

export interface LastMessage {
  readonly channel: string;
  readonly at: string;
  readonly text: string;
}

/** All that the pane shows. */
export interface Known {
  readonly channels: readonly Channel[];
  readonly lastMessages: readonly LastMessage[];
  readonly paired: readonly Person[];
  /** `channel:id`. */
  readonly owners: readonly string[];
  readonly config: JsonObject;
  /** Whether the gateway has a token, without which the page cannot make somebody an owner. */
  readonly hasToken: boolean;
}

export async function readChannels(api: Api): Promise<Known> {
  const [{ channels }, { users }, { paired }, { config }] = await Promise.all([
    api.get("api/channels"),
    api.get("api/channels/senders?limit=200"),
    api.get("api/pairings"),
    readSettings(api),
  ]);
  return {
    channels: recordsIn(channels)
      .filter(({ isAvailable }) => isAvailable === true)
      .map(toChannel),
    lastMessages: recordsIn(users).map((user) => ({
      channel: textIn(user.channel),
      at: textIn(user.lastSeen),
      text: textIn(user.latestMessage),
    })),
    paired: recordsIn(paired).map((one) => ({
      channel: textIn(one.channel),
      id: textIn(one.senderId),
      name: textIn(one.senderName),
    })),
    owners: textsAt(config, "owners"),
    config,
    hasToken: textIn(settingAt(config, "gateway", "token")) !== "",
  };
}

function toChannel(channel: JsonObject): Channel {
  return {
    name: textIn(channel.name),
    isOn: channel.enabled === true,
    state: textIn(channel.state),
    reason: textIn(channel.reason),
    since: textIn(channel.since),
    lastSeenAt: textIn(channel.lastSeenAt),
    platform: textIn(channel.platform),
    title: saidIn(channel.title) || textIn(channel.name),
    toDo: isRecord(channel.toDo) ? { text: saidIn(channel.toDo.text), scan: textIn(channel.toDo.scan) } : undefined,
    fields: recordsIn(channel.fields).map(toField),
  };
}

/** What the config has for a channel. */
export function sectionIn({ config }: Pick<Known, "config">, name: string): JsonObject {
  const sections: unknown = config.channels;
  const section: unknown = isRecord(sections) && Object.hasOwn(sections, name) ? sections[name] : undefined;
  return isRecord(section) ? section : {};
}

/** Logs in once. Resolves with how people find the bot; empty where the platform does not say. */
export async function testChannel(api: Api, name: string, section: JsonObject): Promise<string> {
  const { account } = await api.post(`api/channels/${name}/test`, section, { timeoutMs: 30_000 });
  return textIn(account);
}

/** Switches it on with these settings. */
export async function connect(api: Api, name: string, section: JsonObject): Promise<void> {
  await changeSettings(api, () => ({ channels: { [name]: { ...section, enabled: true } } }));
}

export async function switchChannel(api: Api, name: string, isOn: boolean): Promise<void> {
  await changeSettings(api, () => ({ channels: { [name]: { enabled: isOn } } }));
}

/**
 * Takes its settings away, with who may talk and command there: another account of that name would let them in. Who waits to be let
 * in is refused.
 */
export async function removeAccount(api: Api, name: string): Promise<void> {
  await changeSettings(api, (config) => {
    const owners = textsAt(config, "owners");
    const others = owners.filter((owner) => !owner.startsWith(`${name}:`));
    return { channels: { [name]: null }, ...(others.length < owners.length ? { owners: others } : {}) };
  });
  const { paired, waiting } = await api.get("api/pairings");
  const isThere = (one: JsonObject): boolean => textIn(one.channel) === name;
  for (const { senderId } of recordsIn(paired).filter(isThere))
    await revoke(api, { channel: name, id: textIn(senderId) });
  for (const { code } of recordsIn(waiting).filter(isThere)) await api.post("api/pairings/refuse", { code });
}

export async function revoke(api: Api, { channel, id }: Pick<Person, "channel" | "id">): Promise<void> {
  await api.delete(`api/pairings/${encodeURIComponent(channel)}/${encodeURIComponent(id)}`);
}

export async function removeOwner(api: Api, owner: string): Promise<void> {
  await changeSettings(api, (config) => ({ owners: textsAt(config, "owners").filter((one) => one !== owner) }));
}

export interface OwnerCode {
  readonly code: string;
  readonly expiresAt: string;
}

export async function askForCode(api: Api, name: string): Promise<OwnerCode> {
  const { code, expiresAt } = await api.post(`api/channels/${name}/owner-code`);
  return { code: textIn(code), expiresAt: textIn(expiresAt) };
}

/** How far the code is. */
export interface CodeState {
  readonly state: string;
  readonly who: string;
  readonly reason: string;
}

export async function codeState(api: Api, name: string): Promise<CodeState> {
  const { state, owner, reason } = await api.get(`api/channels/${name}/owner-code`);
  const { senderId, senderName } = isRecord(owner) ? owner : {};
  return { state: textIn(state), who: textIn(senderName) || textIn(senderId), reason: textIn(reason) };
}

export async function takeCodeBack(api: Api, name: string): Promise<void> {
  await api.delete(`api/channels/${name}/owner-code`);
}
