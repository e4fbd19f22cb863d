/** Moves a cursor, colours, hides or turns text around: everything but a line end and a tab. */
const controls = "[^\\P{Cc}\\n\\t]|[\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u206f]";

/** Nobody sees it, and programs read it: zero-width characters, soft hyphens, fillers, annotations. */
const unseen = "[\\u00ad\\u115f\\u1160\\u180e\\u200b\\u2060-\\u2065\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]";

/** Scripts whose words do without joiners. In others, as in Persian and Hindi, they are part of the spelling. */
const plainScripts = "\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Han}\\p{Script=Hangul}";
const joinable = `(?:(?![${plainScripts}])[\\p{L}\\p{M}])`;

/** Joiners that join neither letters nor the parts of an emoji. What a stream has cut may go on in the next piece. */
const looseJoiner = `(?<!^|${joinable}|[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])[\\u200c\\u200d](?!$)`;

/** Letters of ASCII that are not shown; they belong into the flags of countries within countries only. */
const tags = "(?<!\\u{1f3f4}[\\u{e0020}-\\u{e007e}]{0,6})[\\u{e0000}-\\u{e007f}]";

/** One selector says how the sign before it looks; more of them in a row say something to programs. */
const selectors =
  "(?<=[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]|(?<!\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]";

/** The source of a pattern for all of that, to be used with the flags `gu`. */
export const steeringSource: string = [controls, unseen, looseJoiner, tags, selectors].join("|");

const steering = new RegExp(steeringSource, "gu");

/**
 * A text of others without what would steer a terminal, or what only programs would read in it. Line ends and tabs stay, and so
 * do emoji, and text of any script.
 */
export function withoutSteering(text: string): string {
  return text.replaceAll(steering, "");
}
