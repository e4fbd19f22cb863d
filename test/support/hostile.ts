/** Pieces of which texts are made that parsers find hard, each repeated as often as one likes. */
export const hostileUnits: readonly string[] = [
  ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter((mark) => !/[b-yB-Y2-8]/.test(mark)),
  ...["\t", "\n", "\r", "\r\n", " \n", "\u00a0", "é", "中", "。", "\ud800", "\u001b", "\u0000"],
  ...[
    "a ",
    "a\n",
    "a,",
    "a@",
    "@a",
    "a.",
    "a:",
    "a=",
    '\\"',
    "\\\\",
    '="',
    "; ",
    "-a",
    "_a*",
    "*a",
    "a**b_",
    "` ",
    "```\n",
  ],
  ...[
    "> ",
    ">> ",
    "- ",
    "  - ",
    "1. ",
    "|a",
    "|-|\n",
    "[a](",
    "![",
    "](",
    "<a",
    "</",
    "<!--",
    "<div>",
    "<a href='",
    "&amp",
  ],
  ...[
    "http://",
    "www.a",
    "=?utf-8?q?a?= ",
    "%2",
    "<@",
    "x wrote ",
    "On a wrote",
    "From: a\n",
    "\n>",
    "\n\n",
    "--\n",
    "\n- ",
  ],
];

/** That piece over and over, alone, before something else and behind it. */
export function hostileTexts(unit: string, length: number): readonly string[] {
  const run = unit.repeat(Math.ceil(length / unit.length));
  return [run, `${run}\u0001`, `x${run}\nx`];
}
