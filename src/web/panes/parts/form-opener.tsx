import type { ComponentChildren } from "preact";
import type { PaneWorld } from "../world.js";

/** Opens a form, and closes it again. What was typed there goes only after a question. */
export function FormOpener({
  world,
  isOpen,
  closes = isOpen,
  press,
  isBelow = false,
  children,
}: {
  readonly world: Pick<PaneWorld, "unsaved">;
  readonly isOpen: boolean;
  /** A press ends a form, be it this one or another. */
  readonly closes?: boolean;
  readonly press: () => void;
  /** It is below a list. */
  readonly isBelow?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <button
      type="button"
      class={isBelow ? "button quiet add" : "button quiet"}
      aria-expanded={isOpen}
      onClick={() => (closes ? world.unsaved.letGo(press) : press())}
    >
      {children}
    </button>
  );
}
