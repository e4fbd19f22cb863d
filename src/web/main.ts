import { startApp } from "./app.js";
import { LaterOutboxStore } from "./outbox/later-store.js";
import { openOutboxStore } from "./outbox/outbox-database.js";
import { MemoryOutboxStore, type OutboxStore } from "./outbox/outbox-store.js";
import { setLanguage } from "./words/language.js";

setLanguage(localStorage);
// The first picture waits for no database.
startApp(document.body, new LaterOutboxStore(outboxStore()));

async function outboxStore(): Promise<OutboxStore> {
  try {
    return await openOutboxStore();
  } catch {
    const store = new MemoryOutboxStore();
    window.addEventListener("beforeunload", (event) => {
      if (!store.isEmpty) event.preventDefault();
    });
    return store;
  }
}
