import { answerNotification, openInbox, showPushed } from "./notices.js";
import { deleteShells, isOfShell, keepShell, readShell } from "./shell.js";
import { subscribeAgain } from "./subscription.js";

/**
 * The page's worker: it keeps the files of the page for when the gateway is away, and shows what is pushed. It never
 * touches what the gateway says: that goes past it, and it keeps none of it.
 */
declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell());
  void self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([deleteShells("old"), self.clients.claim()]));
});

self.addEventListener("fetch", (event) => {
  if (isOfShell(event.request)) event.respondWith(readShell(event.request));
});

self.addEventListener("push", (event) => {
  event.waitUntil(showPushed(event.data));
});

self.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  event.waitUntil(action === "" ? openInbox(notification) : answerNotification(notification, action));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(subscribeAgain(event));
});
