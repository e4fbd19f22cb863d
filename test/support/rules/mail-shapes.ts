/** A mail as a program writes it, with the words of a test. */
export interface ReplyWords {
  /** Above the quote. */
  readonly top?: string;
  /** The mail that is answered, a line each. */
  readonly quoted: readonly string[];
  /** Behind that line of the quote. */
  readonly between?: Readonly<Record<number, string>>;
  /** Below the quote. */
  readonly bottom?: string;
  readonly by?: string;
}

const defaultAuthor = "Helper <helper@maxclaw.test>";

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function divs(lines: readonly string[]): string {
  return lines.map((line) => `<div>${line === "" ? "<br>" : escaped(line)}</div>`).join("");
}

/** The quote in pieces, with what is between them. */
function pieces(
  { quoted, between = {} }: ReplyWords,
  quote: (lines: readonly string[]) => string,
  own: (text: string) => string,
): string {
  let html = "";
  let open: string[] = [];
  for (const [at, line] of quoted.entries()) {
    open.push(line);
    const answer = between[at];
    if (answer === undefined) continue;
    html += quote(open) + own(answer);
    open = [];
  }
  return html + (open.length === 0 ? "" : quote(open));
}

type Shape = (words: ReplyWords) => string;

/** Answers of programs that send HTML, built as theirs are. */
export const htmlReplies: Readonly<Record<string, Shape>> = {
  Gmail(words) {
    const { top = "", bottom = "", by = defaultAuthor } = words;
    const quote = (lines: readonly string[]): string =>
      `<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid"><div>${divs(lines)}</div></blockquote>`;
    return `<div dir="ltr">${escaped(top)}</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Sun, Nov 22, 2026 at 9:15&#8239;AM ${escaped(by)} wrote:<br></div>${pieces(words, quote, (text) => `<div>${escaped(text)}</div>`)}</div><div>${escaped(bottom)}</div>`;
  },
  "Apple Mail"(words) {
    const { top = "", bottom = "", by = defaultAuthor } = words;
    const quote = (lines: readonly string[]): string =>
      `<blockquote type="cite"><div>${divs(lines)}</div></blockquote>`;
    return `<html><head><style>p {color: red}</style></head><body style="word-wrap: break-word;">${escaped(top)}<br><div><br><blockquote type="cite"><div>Am 22.11.2026 um 09:15 schrieb ${escaped(by)}:</div><br class="Apple-interchange-newline"></blockquote>${pieces(words, quote, (text) => `<div>${escaped(text)}</div>`)}</div><br>${escaped(bottom)}</body></html>`;
  },
  Thunderbird(words) {
    const { top = "", bottom = "", by = defaultAuthor } = words;
    const quote = (lines: readonly string[]): string =>
      `<blockquote type="cite" cite="mid:1@x"><p>${lines.map(escaped).join("<br>")}</p></blockquote>`;
    return `<!DOCTYPE html><html><body><p>${escaped(top)}</p><div class="moz-cite-prefix">El 22/11/26 a las 9:15, ${escaped(by)} escribi\u00f3:<br></div>${pieces(words, quote, (text) => `<p>${escaped(text)}</p>`)}<p>${escaped(bottom)}</p></body></html>`;
  },
  ProtonMail(words) {
    const { top = "", bottom = "", by = defaultAuthor } = words;
    const quote = (lines: readonly string[]): string =>
      `<blockquote class="protonmail_quote" type="cite">${divs(lines)}</blockquote>`;
    return `<div style="font-family: Arial;">${escaped(top)}</div><div class="protonmail_quote">On Sunday, November 22nd, 2026 at 9:15 AM, ${escaped(by)} wrote:<br>${pieces(words, quote, (text) => `<div>${escaped(text)}</div>`)}</div><div>${escaped(bottom)}</div>`;
  },
  Yahoo(words) {
    const { top = "", by = defaultAuthor } = words;
    return `<div class="ydp1yahoo-style-wrap">${escaped(top)}</div><div id="ydp2yahoo_quoted_1" class="yahoo_quoted"><div><div>On Sunday, November 22, 2026 at 09:15:00 AM GMT+1, ${escaped(by)} wrote: </div><div><br></div>${divs(words.quoted)}</div></div>`;
  },
  Outlook(words) {
    const { top = "", by = defaultAuthor } = words;
    const field = (name: string, value: string): string => `<b>${name}:</b> ${escaped(value)}<br>`;
    const head = [
      field("Von", by),
      field("Gesendet", "Sonntag, 22. November 2026 09:15"),
      field("An", "Ann"),
      field("Betreff", "AW: it"),
    ];
    return `<html xmlns:o="urn:schemas-microsoft-com:office:office"><body><div class="WordSection1"><p class="MsoNormal">${escaped(top)}<o:p></o:p></p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p class="MsoNormal">${head.join("")}</p></div>${words.quoted.map((line) => `<p class="MsoNormal">${escaped(line) || "&nbsp;"}</p>`).join("")}</div></body></html>`;
  },
  "Outlook on the web"(words) {
    const { top = "", by = defaultAuthor } = words;
    return `<div class="elementToProof">${escaped(top)}</div><div id="appendonsend"></div><hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri"><b>From:</b> ${escaped(by)}<br><b>Sent:</b> Sunday, November 22, 2026 9:15 AM<br><b>To:</b> Ann &lt;ann@maxclaw.test&gt;<br><b>Subject:</b> Re: it</font><div>&nbsp;</div></div><div>${divs(words.quoted)}</div>`;
  },
};

/** Those that put an answer between the lines of a quote, or below it. */
export const interleaving: readonly string[] = ["Gmail", "Apple Mail", "Thunderbird", "ProtonMail"];

/** The lines that programs write above a mail that is passed on, in many languages and by many hands. */
export const forwardHeads: Readonly<Record<string, string>> = {
  "Polish, Thunderbird":
    "-------- Przekazana wiadomość --------\nTemat: \tFaktura\nData: \tSun, 22 Nov 2026 09:15:00 +0100\nNadawca: \tEve Kowalska <eve@elsewhere.example>\nAdresat: \tann@maxclaw.test",
  "Polish, Outlook":
    "Od: Eve Kowalska <eve@elsewhere.example>\nWysłane: niedziela, 22 listopada 2026 09:15\nDo: Ann\nTemat: Faktura",
  "Swedish, Gmail":
    "---------- Vidarebefordrat meddelande ---------\nFrån: Eve Berg <eve@elsewhere.example>\nDate: sön 22 nov. 2026 kl 09:15\nSubject: Faktura\nTo: <ann@maxclaw.test>",
  "Danish, Apple Mail":
    "> Start på videresendt besked:\n> \n> Fra: Eve Holm <eve@elsewhere.example>\n> Emne: Regning\n> Dato: 22. november 2026 kl. 09.15.00 CET\n> Til: ann@maxclaw.test",
  "Finnish, Outlook":
    "Lähettäjä: Eve Mäki <eve@elsewhere.example>\nLähetetty: sunnuntai 22. marraskuuta 2026 9.15\nVastaanottaja: Ann\nAihe: Lasku",
  "Czech, Gmail":
    "---------- Přeposlaná zpráva ---------\nOd: Eve Nová <eve@elsewhere.example>\nDatum: ne 22. 11. 2026 v 9:15\nPředmět: Faktura\nKomu: ann@maxclaw.test",
  "Russian, Mail.ru":
    "-------- Пересылаемое сообщение --------\nОт кого: Ева Петрова <eve@elsewhere.example>\nКому: ann@maxclaw.test\nДата: воскресенье, 22 ноября 2026, 9:15 +03:00\nТема: Счёт",
  "Turkish, Outlook":
    "Gönderen: Eve Yılmaz <eve@elsewhere.example>\nGönderildi: 22 Kasım 2026 Pazar 09:15\nKime: Ann\nKonu: Fatura",
  "Japanese, Outlook": "差出人: 伊藤 <eve@elsewhere.example>\n送信日時: 2026年11月22日 9:15\n宛先: Ann\n件名: 請求書",
  "Japanese, with wide colons":
    "差出人：伊藤 <eve@elsewhere.example>\n日時：２０２６年１１月２２日 ９：１５\n件名：請求書",
  "Korean, Naver":
    '-----Original Message-----\nFrom: "이브" <eve@elsewhere.example>\nTo: <ann@maxclaw.test>\nSent: 2026-11-22 (일) 09:15:00 (GMT+09:00)\nSubject: 청구서',
  "Korean, Outlook":
    "보낸 사람: 이브 <eve@elsewhere.example>\n보낸 날짜: 2026년 11월 22일 일요일 오전 9:15\n받는 사람: Ann\n제목: 청구서",
  "Chinese of Taiwan":
    "寄件者: 伊芙 <eve@elsewhere.example>\n寄件日期: 2026年11月22日 上午 09:15\n收件者: Ann\n主旨: 發票",
  "Chinese, 163.com":
    "-------- 转发邮件信息 --------\n发件人：伊芙 <eve@elsewhere.example>\n发送日期：2026-11-22 09:15:00\n收件人：ann@maxclaw.test\n主题：发票",
  "Chinese, QQ":
    '------------------ 原始邮件 ------------------\n发件人: "伊芙"<eve@elsewhere.example>;\n发送时间: 2026年11月22日(星期天) 上午9:15\n收件人: "Ann"<ann@maxclaw.test>;\n主题: 发票',
  "Arabic, Outlook":
    "من: حواء <eve@elsewhere.example>\nتاريخ الإرسال: الأحد، ٢٢ نوفمبر ٢٠٢٦ ٠٩:١٥ ص\nإلى: Ann\nالموضوع: فاتورة",
  "Hebrew, Gmail":
    "\u200f---------- הודעה שהועברה ---------\u200f\nמאת: חוה <eve@elsewhere.example>\nתאריך: יום א׳, 22 בנוב׳ 2026 ב-9:15\nנושא: חשבונית\nאל: ann@maxclaw.test",
  "Greek, Outlook":
    "Από: Εύα <eve@elsewhere.example>\nΣτάλθηκε: Κυριακή, 22 Νοεμβρίου 2026 9:15 πμ\nΠρος: Ann\nΘέμα: Τιμολόγιο",
  "Thai, with its calendar": "จาก: อีฟ <eve@elsewhere.example>\nส่งเมื่อ: 22 พฤศจิกายน 2569 09:15\nถึง: Ann\nเรื่อง: ใบแจ้งหนี้",
  "bold words":
    "*From:* Eve <eve@elsewhere.example>\n*Sent:* Sunday, November 22, 2026 9:15 AM\n*To:* Ann\n*Subject:* Invoice",
  "values on lines of their own":
    "Subject:\nInvoice\nDate:\nSun, 22 Nov 2026 09:15:00 +0100\nFrom:\nEve <eve@elsewhere.example>\nTo:\nann@maxclaw.test",
  "blank lines between": "From: Eve <eve@elsewhere.example>\n\nDate: 22 November 2026 at 09:15\n\nSubject: Invoice",
  "long lists in broken lines":
    "From: Eve <eve@elsewhere.example>\nTo: Ann <ann@maxclaw.test>, Bo <bo@elsewhere.example>,\n  Cy <cy@elsewhere.example>\nDate: 22 November 2026 at 09:15\nSubject: Invoice",
  "an address that is broken off":
    "From: Human Resources\n<eve@elsewhere.example>\nSent: Sunday, November 22, 2026 9:15 AM",
  "Turkish, Yahoo, all in one line":
    "   ----- İletilmiş Mesaj ----- Kimden: Eve <eve@elsewhere.example>Kime: ann@maxclaw.testGönderilen: 22 Kasım 2026 Pazar 09:15Konu: Fatura",
  "Finnish, in one sentence": "Eve Mäki <eve@elsewhere.example> kirjoitti 22/11/2026 9.15:",
  "Outlook without addresses":
    "From: Smith, Eve\nSent: Sunday, November 22, 2026 9:15 AM\nTo: Doe, Ann\nSubject: Invoice",
  "Russian, Windows Mail, without addresses":
    "От: Ева Петрова\nОтправлено: \u200eвоскресенье\u200e, \u200e22\u200e \u200eноября\u200e \u200e2026\u200e г. \u200e9\u200e:\u200e15\nКому: Ann",
  "a separator in no known language": "-------- Ìfiránṣẹ́ tí a fi ránṣẹ́ --------",
  "Outlook's rule alone": "________________________________",
};

/** The same as HTML tables and blocks, as programs build them. */
export const forwardPages: Readonly<Record<string, string>> = {
  Thunderbird:
    '<div class="moz-forward-container"><br>-------- Doorgestuurd bericht --------<table class="moz-email-headers-table" cellspacing="0"><tbody><tr><th align="RIGHT">Onderwerp: </th><td>Rekening</td></tr><tr><th align="RIGHT">Datum: </th><td>Sun, 22 Nov 2026 09:15:00 +0100</td></tr><tr><th align="RIGHT">Van: </th><td>Eve <a href="mailto:eve@elsewhere.example">&lt;eve@elsewhere.example&gt;</a></td></tr></tbody></table><br>',
  "a table without a word above":
    "<table><tr><td><b>Odesílatel:</b></td><td>Eve &lt;eve@elsewhere.example&gt;</td></tr><tr><td><b>Odesláno:</b></td><td>22. 11. 2026 9:15</td></tr></table><div>",
  QQ: '<div style="font-size:12px"><br></div><div>------------------&nbsp;原始邮件&nbsp;------------------</div><div style="background:#efefef"><div><b>发件人:</b>&nbsp;"伊芙"&lt;eve@elsewhere.example&gt;;</div><div><b>发送时间:</b>&nbsp;2026年11月22日 上午9:15</div></div><div>',
  Gmail:
    '<div class="gmail_quote"><div dir="ltr" class="gmail_attr">---------- Mesaj redirecționat ---------<br>De la: <strong class="gmail_sendername">Eve</strong> <span>&lt;<a href="mailto:eve@elsewhere.example">eve@elsewhere.example</a>&gt;</span><br>Date: dum., 22 nov. 2026 la 09:15<br></div><br><br>',
};
