import type { GatewayApi } from "../../api/gateway-api.js";
import type { ChannelStatus } from "../../api/gateway-status.js";
import type { McpSetupApi } from "../../api/settings/mcp-setup-api.js";
import { Notifications } from "../../api/settings/notifications.js";
import type {
  ChannelView,
  ProviderTry,
  ProviderView,
  SenderView,
  SettingsApi,
} from "../../api/settings/settings-api.js";
import { accountsIn, isPlatformName, platformNames, platformOf, setUpOf, titleOf } from "../../channels/platforms.js";
import { configOf } from "../../config/load.js";
import type { Config } from "../../config/schema.js";
import { absentChannels } from "../../config/schema.js";
import { applied, editsFor } from "../../config/settings/edits.js";
import { assertMayChange } from "../../config/settings/guarded.js";
import { hidden, withoutSecrets } from "../../config/settings/hide.js";
import { assertSecretsStay } from "../../config/settings/secrets-stay.js";
import { SettingsFile } from "../../config/settings/settings-file.js";
import { WorkspaceFiles } from "../../config/settings/workspace-files.js";
import { isObject, type JsonObject } from "../../config/substitute.js";
import { messageOf, RequestError } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import { channelOf, chatOf } from "../../events/session-key.js";
import { listModels } from "../../providers/catalogue/list-models.js";
import { presets, wantsKey } from "../../providers/catalogue/presets.js";
import { priceOf } from "../../providers/catalogue/prices.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import type { Assistant } from "../assistant/assistant.js";
import type { GatewayOptions } from "../options.js";
import { createOwnerCodes } from "./owner-codes.js";
import { tryChannel } from "./try-channel.js";

const maxRuns = 200;
const maxNames = 1000;
const maxSessions = 1000;

type Gateway = Pick<GatewayApi, "status" | "listSessions" | "listQuestions" | "cron">;

/** `source`: the client that wrote them; the gateway once they are in force, also those that were changed by hand. */
export function configChanged(names: readonly string[], source: "client" | "gateway"): EventDraft {
  const to = names.join(", ").slice(0, maxNames);
  return draft("settings_changed", { scope: "gateway", key: "config", to }, { source });
}

/** The settings of the gateway, as a page shows and changes them; nothing where they do not come from a file. */
export function createSettings(
  options: GatewayOptions,
  gateway: Gateway,
  { live, people, mind }: Pick<Assistant, "live" | "people" | "mind">,
  { mcp, logEvent }: { readonly mcp: McpSetupApi | undefined; readonly logEvent: (event: EventDraft) => void },
): Pick<GatewayApi, "settings" | "setup"> {
  const { home, log, config: running, env } = options;
  if (env === undefined || mcp === undefined) return {};
  const onChanged = (names: readonly string[]): void => logEvent(configChanged(names, "client"));
  const file = new SettingsFile({ home, path: running.path, env, live, onChanged });
  const files = new WorkspaceFiles(running.config.agents.defaults.workspace, (job) => mind.ownerMemory.inTurn(job));
  const notifications = new Notifications({
    questions: () => gateway.listQuestions(),
    runs: () => gateway.cron.history({ limit: maxRuns }),
    now: options.now ?? Date.now,
  });
  const settings: SettingsApi = {
    keys: file,
    read: () => file.read(),
    change: (sent, revision) => file.change(sent, revision),
    providers: async () => providersOf(await file.load()),
    models: (wanted, signal) => modelsOf(file, wanted, signal),
    channels: async () => channelsOf((await gateway.status()).channels, (await file.read()).config.channels),
    senders: (query) => sendersOf(gateway, query),
    async testChannel(name, section, signal) {
      const { config: shown } = await file.read();
      const loaded = await file.load();
      const raw = await file.raw();
      const sent: JsonObject = { channels: { [name]: { ...section, enabled: true } } };
      const edits = editsFor(shown, raw, sent);
      // What is only tried has to hold to the same: secrets and files of this machine go nowhere else.
      assertMayChange(edits, false, file.path);
      assertSecretsStay(raw, edits);
      const next = applied(raw, edits);
      return await tryChannel(name, { ...loaded, ...(await configOf(next, { home, env })) }, { home, log, signal });
    },
    notifications: () => notifications.pending(),
    markDelivered: (id) => notifications.markDelivered(id),
    files,
  };
  const ownerCodes = createOwnerCodes({ file, gateway, live, claims: people.claims });
  return { settings, setup: { ownerCodes, mcp } };
}

type Loaded = Awaited<ReturnType<SettingsFile["load"]>>;

function providersOf({ config: { providers } }: Loaded): readonly ProviderView[] {
  return [...new Set([...Object.keys(presets), ...Object.keys(providers)])].map((name) => {
    const [preset, own] = [presetOf(name), Object.hasOwn(providers, name) ? providers[name] : undefined];
    return {
      name,
      apiBase: own?.apiBase === undefined ? preset?.apiBase : withoutLogin(own.apiBase),
      apiFormat: own?.apiFormat ?? preset?.apiFormat ?? "openai",
      isLocal: preset?.isLocal === true,
      isConfigured: own !== undefined,
      hasKey: own?.apiKey !== undefined,
    };
  });
}

async function modelsOf(file: SettingsFile, wanted: ProviderTry, signal: AbortSignal) {
  const { config } = await file.load();
  const name = nameIn([...Object.keys(config.providers), ...Object.keys(presets)], wanted.name);
  const [preset, own] = [presetOf(name), Object.hasOwn(config.providers, name) ? config.providers[name] : undefined];
  const usual = own?.apiBase ?? preset?.apiBase;
  const apiBase = wanted.apiBase ?? usual;
  if (apiBase === undefined || !/^https?:\/\/\S+$/.test(apiBase))
    throw bad(`The address of ${name} is not known. It must begin with https:// or http://.`);
  const isSent = wanted.apiKey !== undefined && wanted.apiKey !== hidden;
  const isUsual = withoutEnd(apiBase) === withoutEnd(usual) || apiBase === (usual && withoutLogin(usual));
  if (!isSent && own?.apiKey !== undefined && !isUsual)
    throw bad("The key of the config goes to the address of the config only: send the key for this one.");
  if (!isSent && own?.apiKey === undefined && wantsKey(name, apiBase)) throw bad("API key is required");
  const apiFormat = wanted.apiFormat ?? own?.apiFormat ?? preset?.apiFormat ?? "openai";
  const apiKey = isSent ? wanted.apiKey : own?.apiKey;
  const { keyPath } = preset ?? {};
  const address = { apiBase: isUsual && usual !== undefined ? usual : apiBase, apiFormat, apiKey, keyPath };
  try {
    const found = await listModels({ ...address, ...(isUsual && !isSent ? { headers: own?.headers } : {}) }, signal);
    return found.map((model) => ({ ...model, ...knownAbout(config, name, model.id) }));
  } catch (error) {
    throw new RequestError(messageOf(error), { status: 400, code: "test_failed", cause: error });
  }
}

/** What the config and the price list say about a model. */
function knownAbout({ prices, providers }: Config, provider: string, model: string) {
  const price = priceOf(prices, { label: `${provider}/${model}`, provider, model });
  const contextWindow = providers[provider]?.models.find(({ id }) => id === model)?.contextWindow;
  return {
    ...(price === undefined ? {} : { price: { input: price.input, output: price.output } }),
    ...(contextWindow ? { contextWindow } : {}),
  };
}

/** The Go maxclaw's page sends names as people read them: `Zhipu GLM`, `MiniMax`. */
function nameIn(names: readonly string[], name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const isNamed = (one: string): boolean => plain === one.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return names.find((one) => one === name) ?? names.find(isNamed) ?? names.find((one) => plain.startsWith(one)) ?? name;
}

function presetOf(name: string) {
  return Object.hasOwn(presets, name) ? presets[name] : undefined;
}

function withoutEnd(address: string | undefined): string | undefined {
  return address && withoutSlashes(address);
}

function withoutLogin(address: string): string {
  return String(withoutSecrets(address.replace(/(:\/\/)[^/\s@]*@/, "$1"), []));
}

function channelsOf(states: readonly ChannelStatus[], written: unknown): readonly ChannelView[] {
  const sections = isObject(written) ? written : {};
  const isOn = (name: string): boolean => isObject(sections[name]) && sections[name].enabled === true;
  const accounts = accountsIn(sections);
  const ofPlatform = (platform: string): string[] => accounts.filter((name) => platformOf(name) === platform);
  const known = new Set<string>([
    ...platformNames.flatMap((name) => [name, ...ofPlatform(name)]),
    ...states.map(({ name }) => name),
  ]);
  const ours = [...known].map((name) => {
    const found = states.find((state) => state.name === name);
    return {
      name,
      isAvailable: true,
      enabled: isOn(name) || (found !== undefined && found.state !== "off"),
      state: found?.state ?? "off",
      since: found?.since,
      lastSeenAt: found?.lastSeenAt,
      reason: found?.reason,
      toDo: found?.toDo,
      ...(isPlatformName(name) || accounts.includes(name)
        ? { platform: platformOf(name), title: titleOf(name), fields: setUpOf(name)?.fields }
        : {}),
    };
  });
  const reason = "maxclaw does not have this channel yet";
  const absent = absentChannels.map((name) => ({
    name,
    isAvailable: false,
    enabled: isOn(name),
    state: "off",
    reason,
  }));
  return [...ours, ...absent];
}

/** Of a direct chat its person; of a group the chat itself, because its session tells about many. */
async function sendersOf(
  gateway: Gateway,
  { channel, limit }: { readonly channel?: string | undefined; readonly limit: number },
): Promise<readonly SenderView[]> {
  const { sessions } = await gateway.listSessions({ channel, limit: maxSessions, offset: 0 });
  const people = new Set(["webui", "cli", "cron", "desktop", "openai"]);
  return sessions
    .filter(({ key }) => !people.has(channelOf(key)) && !key.includes(":spawn:"))
    .map(({ key, lastMessageAt = "", messageCount, lastMessage }) => {
      const [chatId = ""] = chatOf(key).split(":");
      return {
        channel: channelOf(key),
        sender: chatId,
        chatId,
        lastSeen: lastMessageAt,
        messageCount,
        latestMessage: lastMessage,
      };
    })
    .sort((a, b) => (a.lastSeen < b.lastSeen ? 1 : -1))
    .slice(0, limit);
}

function bad(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}
