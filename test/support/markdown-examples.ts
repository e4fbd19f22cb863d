import fc from "fast-check";

/** The corners of CommonMark's chapters, one example each, and what models make of them. */
export const markdownExamples = [
  ...[
    "\tfoo\tbaz\t\tbim",
    "- foo\n\n\tbar",
    "- `one\n- two`",
    "***\n---\n___",
    "+++",
    "- foo\n***\n- bar",
    "Foo\n---\nbar",
  ],
  ...[
    "# foo",
    "####### foo",
    "\\## foo",
    "### foo \\###",
    "#\n",
    "Foo *bar\nbaz*\n====",
    "    a simple\n      indented",
  ],
  ...[
    "```\n<\n >\n```",
    "~~~~\naaa\n```\n~~~~",
    "``\nfoo\n``",
    "> ```\n> aaa\n\nbbb",
    "``` ```\naaa",
    "<table><tr><td>hi</td></tr></table>",
  ],
  ...[
    "<!-- Foo\n\nbar -->\nokay",
    "<?php\n  echo '>';\n?>",
    '[foo]: /url "title"\n\n[foo]',
    "[foo]: <bar>(baz)\n\n[foo]",
  ],
  ...[
    "> # Foo\n> bar",
    "> > > foo\nbar",
    ">\n",
    "1.  A\n\n        code\n\n    > quote",
    "-\n  foo\n-\n  ```\n  bar\n  ```",
    "10) foo\n   - bar",
  ],
  ...[
    "&nbsp; &amp; &copy; &#0; &#98765432; &ThisIsNot;",
    "`&amp;`",
    '\\!\\"\\#\\$\\<\\>\\&',
    "`` foo ` bar ``",
    "` `` `",
    "*foo`*`",
  ],
  ...[
    "a * foo bar*",
    "*foo bar *",
    "**foo*bar**",
    "*foo**bar**baz*",
    "____",
    "__foo, __bar__, baz__",
    "*(**foo**)*",
    "пристаням_стремятся_",
  ],
  ...[
    "[link](/my uri)",
    "[link](<foo>)",
    "[a](<b)c>)",
    "[link [bar](/uri)",
    "![foo *bar*]",
    "[![moon](moon.jpg)](/uri)",
    "[x](https://a.b/c|d)",
  ],
  ...[
    "<https://foo.bar.baz/test?q=hello&id=22&boolean>",
    "<foo@bar.example.com>",
    "<m:abc>",
    "<>",
    "foo  \nbar",
    "https://x.y/<a>|b",
    "a<br/>b",
  ],
  ...[
    "👩‍👩‍👧 **семья**家**庭**",
    "𝒳**𝒴**𝒵",
    "~~a~~~",
    "`<!channel>`",
    "[<!here>](https://x.y)",
    "[a\nb](https://x.y/\u00a0z)",
  ],
];

/** Texts of such pieces hold every mark in every place. */
const bits = fc.constantFrom(
  ...["*", "**", "_", "~~", "`", "```", "\n", "\n\n", " ", "<", ">", "&", "|", "[a](https://x.y/z)", "[", "](", ")"],
  ...["# ", "- ", "1. ", "> ", "word", "汉字", "👩‍👩‍👧", "\\", "&amp;", "<!channel>", "@here", "https://x.y/a_b"],
);

export const oddMarkdown = fc.array(bits, { maxLength: 60 }).map((all) => all.join(""));
