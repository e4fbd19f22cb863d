import type { Config } from "../config/schema.js";
import type { ContextFileLoader, ContextFiles } from "../memory/files.js";
import type { Pairing } from "../policy/pairing.js";

/**
 * Sentences for the status: files that shape the assistant and cannot be read, and guests who are told nothing. The
 * files are looked at again in the background: an answer may be one question old.
 */
export function createGuestProblems(
  config: Config,
  ports: {
    readonly pairing: Pick<Pairing, "list">;
    readonly contextFiles: ContextFileLoader;
    readonly isOwner: (channel: string, senderId: string) => boolean;
    readonly isOwnersChat: (sessionKey: string) => boolean;
  },
): () => readonly string[] {
  const latest: { files: ContextFiles } = { files: { problems: [] } };
  const look = (): void => {
    void ports.contextFiles.load().then((files) => {
      latest.files = files;
    });
  };
  look();
  return () => {
    look();
    const { agents, guests, problems } = latest.files;
    const isUntold = agents !== undefined && guests === undefined && hasGuests(config, ports);
    const { enabled, chat } = config.heartbeat;
    const isSilent = enabled && chat !== undefined && !ports.isOwnersChat(chat);
    return [...problems, ...(isUntold ? [untold] : []), ...(isSilent ? [silentHeartbeat(chat)] : [])];
  };
}

function silentHeartbeat(chat: string): string {
  return `heartbeat.chat: others read along in ${chat}, so the list of the heartbeat is not used there. Name an owner's direct chat.`;
}

const untold =
  "AGENTS.md is for owners alone, and guests may talk here: write what the assistant should know with them into GUESTS.md.";

function hasGuests(
  { channels }: Config,
  { pairing, isOwner }: Pick<Parameters<typeof createGuestProblems>[1], "pairing" | "isOwner">,
): boolean {
  const isGuest = (channel: string, sender: string): boolean => !isOwner(channel, sender);
  if (pairing.list().paired.some(({ channel, senderId }) => isGuest(channel, senderId))) return true;
  return Object.entries(channels).some(([name, channel]) => {
    if (channel === undefined || !channel.enabled) return false;
    const groups = "allowGroups" in channel ? channel.allowGroups : [];
    return groups.length > 0 || channel.allowFrom.some((sender) => isGuest(name, sender));
  });
}
