import type { Store } from "../store.js";
import type { createBanners } from "./banners/banners.js";
import { chatTitle } from "./chat-title.js";
import type { FirstRun } from "./first-run.js";
import type { createRail } from "./rail.js";
import type { Shell } from "./shell.js";
import type { createStrangers } from "./strangers.js";

interface FrameParts {
  readonly shell: Shell;
  readonly firstRun: FirstRun;
  readonly banners: ReturnType<typeof createBanners>;
  readonly rail: ReturnType<typeof createRail>;
  readonly strangers: ReturnType<typeof createStrangers>;
}

/** Has the frame of the page show what the store knows. */
export function showKnown(store: Store, { shell, firstRun, banners, rail, strangers }: FrameParts): void {
  store.watch(["status"], ({ status }) => {
    if (status === undefined) return;
    shell.showModel(status);
    firstRun.show(status.needsModel);
    // The steps of the first run are about the model.
    banners.showProblems(firstRun.isShown ? status.problems : [...status.problems, ...status.modelProblems]);
  });
  store.watch(["nextAttemptAt"], ({ nextAttemptAt }) => banners.showOffline(nextAttemptAt));
  store.watch(["inbox"], ({ inbox }) => {
    const { count, items } = inbox ?? { count: 0, items: [] };
    rail.badge("inbox", count);
    shell.showWaiting(count);
    strangers.show(items);
  });
  store.watch(["session", "chats"], ({ session, chats }) => {
    if (session === undefined) return;
    const { view, pending } = session;
    const isEmpty = view.items.length === 0 && pending.length === 0 && !session.isLoading;
    shell.showSession({ title: chatTitle(session, chats), isEmpty });
  });
  // The last of all: everything else has been drawn.
  store.watch(["session", "status", "nextAttemptAt"], ({ session, status, nextAttemptAt }) => {
    const isChatKnown = session !== undefined && (!session.isLoading || session.view.items.length > 0);
    const isGatewayKnown = status !== undefined || nextAttemptAt !== undefined;
    if (isChatKnown && isGatewayKnown) void firstRun.drawn().then(shell.settle);
  });
}
