/** The drawer of a narrow page is a step of the history: the browser's way back closes it, and not the page. */
const step = { drawer: true } as const;

export function isDrawerStep(): boolean {
  // Whatever a page of this address has kept there.
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "drawer" in state;
}

export function addDrawerStep(): void {
  if (!isDrawerStep()) history.pushState(step, "");
}
