import type { SearchHit } from "../../client/client.js";
import { type SessionEntry, titleOf } from "../panes/chats/session-list.js";
import { momentOf } from "../parts/format.js";
import { isWorking } from "../session/view-state.js";
import type { PaletteWorld } from "./palette-world.js";
import { paletteWords } from "./words.js";

/** One line of the palette. */
export interface Entry {
  readonly label: string;
  /** A second, quieter line; empty for none. */
  readonly detail: string;
  run(): void;
}

/** Lines below a heading. */
export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

const fewChats = 5;
const mostChats = 8;

/** What is there without asking the gateway: chats by their titles, pages, actions. All words of `query` must be in a line. */
export function sectionsFor(query: string, world: PaletteWorld, showShortcuts: () => void): readonly Section[] {
  const { t } = paletteWords;
  const { chats, current } = world.store.known;
  const others = query === "" ? chats.entries.filter(({ key }) => key !== current).slice(0, fewChats) : chats.entries;
  return [
    { title: t("chats"), entries: matching(query, others.map(chatEntry(world))).slice(0, mostChats) },
    { title: t("pages"), entries: matching(query, pageEntries(world)) },
    { title: t("actions"), entries: matching(query, actionEntries(world, showShortcuts)) },
  ].filter(({ entries }) => entries.length > 0);
}

export function hitSection(hits: readonly SearchHit[], world: PaletteWorld): readonly Section[] {
  if (hits.length === 0) return [];
  const { chats } = world.store.known;
  const nameOf = (hit: SearchHit): string => {
    const entry = chats.entries.find(({ key }) => key === hit.sessionKey);
    if (entry !== undefined) return titleOf(entry);
    return hit.title ?? (hit.channel === "webui" ? paletteWords.t("newChat") : hit.sessionKey);
  };
  const entries = hits.map((hit) => ({
    label: nameOf(hit),
    detail: `${momentOf(new Date(hit.at))} · ${hit.snippet}`,
    run: () => world.openHit(hit),
  }));
  return [{ title: paletteWords.t("found"), entries }];
}

function matching(query: string, entries: readonly Entry[]): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/);
  return entries.filter(({ label, detail }) => {
    const text = `${label} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function chatEntry(world: PaletteWorld) {
  return (entry: SessionEntry): Entry => ({
    label: titleOf(entry),
    detail: [entry.channel === "webui" ? "" : entry.channel, entry.at === "" ? "" : momentOf(new Date(entry.at))]
      .filter((part) => part !== "")
      .join(" · "),
    run: () => world.openChat(entry.key),
  });
}

function pageEntries({ panes, openPane }: PaletteWorld): readonly Entry[] {
  return panes
    .filter(({ area }) => area !== "hidden")
    .map(({ id, title, about }) => ({ label: title(), detail: about(), run: () => openPane(id) }));
}

function actionEntries(world: PaletteWorld, showShortcuts: () => void): readonly Entry[] {
  const { t } = paletteWords;
  const { chat, device, store } = world;
  const { session, chats } = store.known;
  const isKept = chats.entries.some(({ key }) => key === session?.view.sessionKey);
  const line = (label: string, run: (() => void) | undefined): readonly Entry[] =>
    run === undefined ? [] : [{ label, detail: "", run }];
  const ofChat = [
    ...line(t("rename"), () => chat.rename()),
    ...line(t("saveMarkdown"), () => chat.download("markdown")),
    ...line(t("saveJson"), () => chat.download("json")),
  ];
  return [
    ...line(t("newChat"), () => world.newChat()),
    ...(session !== undefined && isWorking(session.view) ? line(t("stop"), () => chat.stop()) : []),
    ...(isKept ? ofChat : []),
    ...line(t("goWrite"), () => chat.focus()),
    ...line(t("shortcuts"), showShortcuts),
    ...line(t("language"), () => device.changeLanguage()),
    ...line(t("devices"), device.showDevices()),
    ...line(t("signOut"), device.signOut()),
  ];
}
