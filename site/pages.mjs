// What the site is made of, read from the repository: README's groups, links and the anchors of headings.
// The tests use this too, so that a broken link is found without building the site.

/** Headings and links count outside of code blocks only. */
function outsideOfCode(markdown) {
  let fence = "";
  return markdown.split("\n").map((text) => {
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1] ?? "";
    const isCode = fence !== "" || mark !== "";
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence)) fence = "";
    return { text, isCode };
  });
}

/** The anchor of a heading, as GitHub makes it; the site makes the same. */
export function anchorOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
}

/** The anchors of all headings of a page. A heading that comes again gets a number. */
export function anchorsOf(markdown) {
  const seen = new Map();
  const anchors = new Set();
  for (const { text, isCode } of outsideOfCode(markdown)) {
    const heading = isCode ? undefined : /^#{1,6} +(.+?) *$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const anchor = anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

const link = /(`[^`]*`)|(\]\()([^)\s]+)(\))/g;

/** The page with each of its link targets replaced by what `change` says. */
export function withLinks(markdown, change) {
  return outsideOfCode(markdown)
    .map(({ text, isCode }) =>
      isCode
        ? text
        : text.replace(link, (all, code, open, target, close) => (code ? all : open + change(target) + close)),
    )
    .join("\n");
}

/** The link targets of a page, those to other hosts aside. */
export function linksOf(markdown) {
  const targets = [];
  withLinks(markdown, (target) => {
    if (!/^[a-z]+:/i.test(target)) targets.push(target);
    return target;
  });
  return targets;
}

/** The groups of README's "Read on": a title and its pages, as `{ text, file }`. */
export function groupsOf(readme) {
  const section = /^## Read on\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(readme)?.[1];
  if (section === undefined) throw new Error('README.md has no section "Read on", which is the sidebar of the site');
  return section
    .split(/\n\n+/)
    .map((paragraph) => ({ title: /^\*\*(.+?)\*\*/.exec(paragraph.trim())?.[1], paragraph }))
    .filter(({ title }) => title !== undefined)
    .map(({ title, paragraph }) => ({
      title,
      pages: [...paragraph.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text, file]) => ({ text, file })),
    }));
}
