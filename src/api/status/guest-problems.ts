import type { Pairing } from "../../policy/pairing.js";
import { statusSentence } from "../../util/words/status-sentences.js";

/** What is asked about guests and the files that shape the assistant. */
export interface GuestPorts {
  /** Sections of the config. */
  readonly channels: () => Readonly<Record<string, ChannelSection | undefined>>;
  readonly heartbeat: { readonly enabled: boolean; readonly chat?: string | undefined };
  readonly pairing: Pick<Pairing, "list">;
  readonly contextFiles: { load(): Promise<ShapingFiles> };
  readonly isOwner: (channel: string, senderId: string) => boolean;
  readonly isOwnersChat: (sessionKey: string) => boolean;
}

interface ChannelSection {
  readonly enabled: boolean;
  readonly allowFrom: readonly string[];
  readonly allowGroups?: readonly string[];
}

interface ShapingFiles {
  readonly agents?: string;
  readonly guests?: string;
  /** Files that could not be read, each as one sentence. */
  readonly problems: readonly string[];
}

/**
 * Sentences for the status: files that shape the assistant and cannot be read, and guests who are told nothing. The
 * files are looked at again in the background: an answer may be one question old.
 */
export function createGuestProblems(ports: GuestPorts): () => readonly string[] {
  const latest: { files: ShapingFiles } = { files: { problems: [] } };
  const look = (): void => {
    void ports.contextFiles.load().then((files) => {
      latest.files = files;
    });
  };
  look();
  return () => {
    look();
    const { agents, guests, problems } = latest.files;
    const lacksGuestsFile = agents !== undefined && guests === undefined && hasGuests(ports);
    const { enabled, chat } = ports.heartbeat;
    const isSilent = enabled && chat !== undefined && !ports.isOwnersChat(chat);
    return [
      ...problems,
      ...(lacksGuestsFile ? [statusSentence("guests_file")] : []),
      ...(isSilent ? [statusSentence("silent_heartbeat", { chat })] : []),
    ];
  };
}

function hasGuests({ channels, pairing, isOwner }: GuestPorts): boolean {
  const isGuest = (channel: string, sender: string): boolean => !isOwner(channel, sender);
  if (pairing.list().paired.some(({ channel, senderId }) => isGuest(channel, senderId))) return true;
  return Object.entries(channels()).some(([name, channel]) => {
    if (channel === undefined || !channel.enabled) return false;
    const { allowGroups = [], allowFrom } = channel;
    return allowGroups.length > 0 || allowFrom.some((sender) => isGuest(name, sender));
  });
}
