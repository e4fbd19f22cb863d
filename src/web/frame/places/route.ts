import { isDrawerStep } from "./drawer-step.js";
import { hashOfPlace, type Place, placeOf } from "./place.js";

const invitation = /^#join=([\w-]{1,200})$/;

/** The code of an invitation that has led here. It works once, so it goes from the address and from the history. */
export function takeInvitation(): string | undefined {
  const code = invitation.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, "", location.pathname);
  return code;
}

/** The address says where the reader is, so that reload and back button work. Whatever else it says is not read. */
export interface Route {
  readonly place: Place | undefined;
  /** Adds a step to the history. */
  go(place: Place): void;
  /** Says so in place of what the address said. */
  settle(place: Place): void;
  clear(): void;
}

/** `onPlace` gets where the back button, a link or the reader's typing has led to, but not what `go` was given. */
export function followRoute(onPlace: (place: Place) => void): Route {
  window.addEventListener("hashchange", () => {
    const place = placeOf(location.hash);
    if (place !== undefined) onPlace(place);
  });
  return {
    get place() {
      return placeOf(location.hash);
    },
    go(place) {
      const hash = hashOfPlace(place);
      const isElsewhere = location.hash !== hash;
      // What was chosen in the drawer takes its place.
      if (isElsewhere && isDrawerStep()) history.replaceState(null, "", hash);
      else if (isElsewhere) history.pushState(null, "", hash);
      else if (isDrawerStep()) history.back();
    },
    settle: (place) => history.replaceState(null, "", hashOfPlace(place)),
    clear: () => history.replaceState(null, "", location.pathname),
  };
}
