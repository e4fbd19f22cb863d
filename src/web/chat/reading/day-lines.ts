import { h, setText } from "../../parts/dom.js";
import { dayOf } from "../../parts/format.js";
import type { Item } from "../../session/view-state.js";
import type { ItemView } from "../item-view.js";
import { KeyedViews } from "../keyed-views.js";

interface DayLine {
  readonly key: string;
  readonly text: string;
}

/** Lines between days. */
export class DayLines {
  readonly #views = new KeyedViews<DayLine>(({ key }) => key, dayView);

  /** The elements of `items[start, end)`, each day's behind its line. */
  between(
    items: readonly Item[],
    start: number,
    end: number,
    elementsOf: (some: readonly Item[]) => readonly Element[],
  ): readonly Element[] {
    const shown = items.slice(start, end);
    const elements = elementsOf(shown);
    const lines = new Map<number, DayLine>();
    const now = new Date();
    for (const [place, item] of shown.entries()) {
      const before = items[start + place - 1];
      const day = dateOf(item);
      if (day === undefined || day.toDateString() === (before && dateOf(before))?.toDateString()) continue;
      lines.set(place, { key: item.key, text: dayOf(day, now) });
    }
    const dayElements = this.#views.elementsOf([...lines.values()]);
    const places = new Map([...lines.keys()].map((place, index) => [place, dayElements[index]]));
    return elements.flatMap((element, place) => {
      const line = places.get(place);
      return line === undefined ? [element] : [line, element];
    });
  }

  clear(): void {
    this.#views.clear();
  }
}

function dateOf({ at }: Item): Date | undefined {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function dayView(): ItemView<DayLine> {
  const element = h("div", { class: "day-line", role: "separator" });
  return {
    element,
    update({ text }) {
      element.setAttribute("aria-label", text);
      setText(element, text);
    },
  };
}
