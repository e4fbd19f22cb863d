import type { Records } from "../../../../src/engine/engine.js";

/**
 * Records as several nodes share them: what one has changed the others see only after `refresh`, as if nobody had told
 * them yet. Writes take a moment.
 */
export function shareRecords(): { node(): Records; refresh(): void } {
  const stored = new Map<string, string>();
  const views: Map<string, string>[] = [];
  const parse = (json: string | undefined): unknown => (json === undefined ? undefined : JSON.parse(json));
  const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    refresh() {
      for (const view of views) {
        view.clear();
        for (const [id, json] of stored) view.set(id, json);
      }
    },
    node() {
      const view = new Map(stored);
      views.push(view);
      const write = (id: string, value: unknown): void => {
        for (const map of [stored, view]) {
          if (value === undefined) map.delete(id);
          else map.set(id, JSON.stringify(value));
        }
      };
      return {
        get: (id) => parse(view.get(id)),
        list: () => [...view].map(([id, json]) => ({ id, value: parse(json) })),
        async put(id, value) {
          await moment();
          write(id, value);
        },
        async delete(id) {
          await moment();
          write(id, undefined);
        },
        async update(id, change) {
          for (;;) {
            const before = stored.get(id);
            const value = parse(before);
            const after = change(value);
            await moment();
            if (stored.get(id) !== before) continue;
            if (after !== value) write(id, after);
            else if (before !== undefined) view.set(id, before);
            return after === undefined ? undefined : parse(JSON.stringify(after));
          }
        },
      };
    },
  };
}
