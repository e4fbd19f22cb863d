import createDOMPurify from "dompurify";

const purify = createDOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A") return;
  const href = node.getAttribute("href") ?? "";
  if (/^(https?|mailto):/i.test(href)) {
    node.setAttribute("target", "_blank");
    // Instead of whatever the answer would have said there.
    node.setAttribute("title", href);
    node.setAttribute("rel", "noopener noreferrer");
  } else {
    // A relative address would lead into this page, where an answer has no business.
    node.removeAttribute("href");
  }
});

const allowed = {
  ALLOWED_TAGS: [
    ..."p br hr strong em del code pre blockquote ul ol li a h1 h2 h3 h4 h5 h6".split(" "),
    ..."table thead tbody tr th td sub sup kbd mark u details summary div span".split(" "),
  ],
  ALLOWED_ATTR: ["href", "title", "start", "align", "class", "open"],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Of MathML what draws: no links, no styles, no actions, nothing of HTML. */
const allowedMath = {
  ALLOWED_TAGS: [
    ..."math semantics mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot munder mover".split(" "),
    ..."munderover mtable mtr mtd mstyle mpadded mphantom menclose mmultiscripts mprescripts none".split(" "),
  ],
  ALLOWED_ATTR: [
    ..."display displaystyle scriptlevel mathvariant mathcolor mathbackground mathsize stretchy fence".split(" "),
    ..."separator lspace rspace minsize maxsize accent accentunder columnalign rowalign columnspacing".split(" "),
    ..."rowspacing columnlines rowlines linethickness width height depth voffset notation symmetric".split(" "),
    ..."movablelimits largeop".split(" "),
  ],
  // The source, which would be shown beside the formula.
  FORBID_CONTENTS: ["annotation"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

export const cleanAnswer = (html: string): DocumentFragment => purify.sanitize(html, allowed);

export const cleanMath = (mathMl: string): DocumentFragment => purify.sanitize(mathMl, allowedMath);
