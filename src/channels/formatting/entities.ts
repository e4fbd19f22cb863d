/** Names of HTML that stand for the characters from U+00A0 on, one after the other. */
const latin = `
  nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para
  middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave
  Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc
  Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc
  iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;

/** From U+0391 on; `-` is a place without a letter. The small ones follow 32 places later. */
const greek = `
  Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi
  Omega`;

/** Names with the number of their character. */
const others = `
  quot 34 amp 38 lt 60 gt 62 apos 39 Tab 9 NewLine 10 excl 33 num 35 dollar 36 percnt 37 lpar 40 rpar 41 ast 42 midast 42
  plus 43 comma 44 period 46 sol 47 colon 58 semi 59 equals 61 quest 63 commat 64 lsqb 91 lbrack 91 bsol 92 rsqb 93 rbrack
  93 Hat 94 lowbar 95 grave 96 lcub 123 lbrace 123 verbar 124 vert 124 rcub 125 rbrace 125
  OElig 338 oelig 339 Scaron 352 scaron 353 Yuml 376 fnof 402 circ 710 tilde 732 ensp 8194 emsp 8195 thinsp 8201 zwnj 8204
  zwj 8205 lrm 8206 rlm 8207 ndash 8211 mdash 8212 horbar 8213 lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221
  bdquo 8222 dagger 8224 Dagger 8225 bull 8226 hellip 8230 mldr 8230 permil 8240 prime 8242 Prime 8243 lsaquo 8249 rsaquo
  8250 oline 8254 frasl 8260 euro 8364 image 8465 weierp 8472 real 8476 trade 8482 alefsym 8501 larr 8592 uarr 8593 rarr
  8594 darr 8595 harr 8596 crarr 8629 lArr 8656 uArr 8657 rArr 8658 dArr 8659 hArr 8660 forall 8704 part 8706 exist 8707
  empty 8709 nabla 8711 isin 8712 notin 8713 ni 8715 prod 8719 sum 8721 minus 8722 lowast 8727 radic 8730 prop 8733 infin
  8734 ang 8736 and 8743 or 8744 cap 8745 cup 8746 int 8747 there4 8756 sim 8764 cong 8773 asymp 8776 ne 8800 equiv 8801
  le 8804 ge 8805 sub 8834 sup 8835 nsub 8836 sube 8838 supe 8839 oplus 8853 otimes 8855 perp 8869 sdot 8901 lceil 8968
  rceil 8969 lfloor 8970 rfloor 8971 lang 10216 rang 10217 loz 9674 spades 9824 clubs 9827 hearts 9829 diams 9830 check
  10003 cross 10007 star 9734 starf 9733 phone 9742 female 9792 male 9794 thetasym 977 upsih 978 piv 982`;

const characters: ReadonlyMap<string, string> = new Map([
  ...numbered(latin, 0xa0),
  ...numbered(greek, 0x391),
  ...numbered(greek.toLowerCase(), 0x3b1),
  ["sigmaf", "\u03c2"],
  ...wordsOf(others).flatMap((word, index, all): [string, string][] =>
    index % 2 === 0 ? [[word, String.fromCodePoint(Number(all[index + 1]))]] : [],
  ),
]);

function wordsOf(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function numbered(names: string, first: number): [string, string][] {
  return wordsOf(names).map((name, index) => [name, String.fromCodePoint(first + index)]);
}

/** Markdown reads HTML entities in text; what it does not know stays as it is. */
export function unescapeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]\w{1,12}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return characters.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : whole;
  });
}
