/**
 * Makes `live` look like `fresh`, and leaves the nodes of `live` that need no change: what the reader has selected, scrolled, opened or focused
 * stays so. Nodes of `fresh` that `live` lacks move over.
 */
export function morph(live: Element, fresh: Element): void {
  matchAttributes(live, fresh);
  const wanted = [...fresh.childNodes];
  for (const [index, next] of wanted.entries()) {
    const old = live.childNodes[index];
    if (old === undefined) live.append(next);
    else if (old instanceof Text && next instanceof Text) matchText(old, next.data);
    else if (old instanceof Element && next instanceof Element && old.nodeName === next.nodeName) morph(old, next);
    else old.replaceWith(next);
  }
  while (live.childNodes.length > wanted.length) live.lastChild?.remove();
}

function matchAttributes(live: Element, fresh: Element): void {
  // Whether a fold is open is the reader's affair.
  const isReaders = (name: string): boolean => name === "open" && live.nodeName === "DETAILS";
  for (const { name } of [...live.attributes])
    if (!fresh.hasAttribute(name) && !isReaders(name)) live.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (live.getAttribute(name) !== value && !isReaders(name)) live.setAttribute(name, value);
}

function matchText(old: Text, text: string): void {
  if (old.data === text) return;
  if (text.startsWith(old.data)) old.appendData(text.slice(old.data.length));
  else old.data = text;
}
