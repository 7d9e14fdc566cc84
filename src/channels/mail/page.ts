import { escapeHtml } from '#src/i18n/translate.ts'
import { inertMarkup } from '#src/kernel/inert-text.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { MessageTone } from '../card/card.ts'

/**
 * HTML frame of every e-mail: tables and inline styles, because mail clients support little else. Classes
 * only add the dark theme. No images, no scripts, no external resources.
 */

const LIGHT = {
  background: '#F5F6F8',
  card: '#FCFCFD',
  text: '#151A21',
  muted: '#566070',
  line: '#DDE1E7',
  accent: '#1755C7',
  onAccent: '#FCFCFD',
  critical: '#B3261E',
  warning: '#8A4B00',
  fine: '#0B6B3D',
  info: '#1755C7',
} as const
const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  background: '#11151B',
  card: '#1A2029',
  text: '#E8EBF0',
  muted: '#A3ADBB',
  line: '#2A323D',
  accent: '#8AB4FF',
  onAccent: '#0B1220',
  critical: '#FF9A92',
  warning: '#FFC36B',
  fine: '#74DBA0',
  info: '#8AB4FF',
}

const BASE_FONTS = 'system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,sans-serif'
const FONTS: Readonly<Partial<Record<Locale, string>>> = {
  bn: 'Noto Sans Bengali,Kohinoor Bangla,Nirmala UI,Vrinda,',
  hi: 'Noto Sans Devanagari,Kohinoor Devanagari,Nirmala UI,Mangal,',
  ar: 'Noto Sans Arabic,Geeza Pro,Segoe UI,Tahoma,',
  zh: 'PingFang SC,Hiragino Sans GB,Microsoft YaHei,Noto Sans CJK SC,',
}
/** Fonts with a narrow middle dot, ellipsis and apostrophe. */
const LATIN_FONTS = 'Segoe UI,Roboto,Helvetica,Arial,Noto Sans,sans-serif'
const CODE_FONT = 'ui-monospace,SF Mono,Consolas,Noto Sans Mono,monospace'
const LINE_HEIGHTS: Readonly<Partial<Record<Locale, string>>> = {
  zh: '1.6',
  hi: '1.75',
  bn: '1.75',
  ar: '1.75',
}

/** Writes the parts of an e-mail as markup in one locale. Arguments that end in `Html` are markup with escaped values. */
export interface MailWriter {
  /** Line with severity, watch and start time, marked by a coloured bar. */
  severityBar(tone: MessageTone, lineHtml: string): string
  heading(text: string): string
  paragraph(textHtml: string): string
  muted(lineHtml: string): string
  /** Lines below each other; empty if there are no lines. */
  lines(linesHtml: readonly string[]): string
  /** A list: the start of each item, such as its number, and its text, whose lines are aligned. */
  list(items: readonly { readonly startHtml: string; readonly textHtml: string }[]): string
  button(label: string, url: string): string
  /** Two columns: label and markup of the value. */
  table(rows: readonly { readonly label: string; readonly valueHtml: string }[]): string
  link(labelHtml: string, url: string): string
  /** The whole document. */
  page(parts: {
    readonly title: string
    readonly preheader: string
    readonly asideHtml: string
    readonly contentHtml: readonly string[]
    readonly footerHtml: readonly string[]
  }): string
}

/**
 * Creates the writer for a locale. Long because it is the markup of all parts of an e-mail,
 * which share fonts and directions.
 */
export function mailWriter(locale: Locale): MailWriter {
  const direction = directionOf(locale)
  const start = direction === 'rtl' ? 'right' : 'left'
  const end = direction === 'rtl' ? 'left' : 'right'
  const font = `font-family:${FONTS[locale] ?? ''}${BASE_FONTS}`
  const lineHeight = `line-height:${LINE_HEIGHTS[locale] ?? '1.5'}`
  const cell = (name: keyof typeof LIGHT, size: number, more = '') =>
    `class="${name}" align="${start}" style="${font};${lineHeight};font-size:${size}px;color:${LIGHT[name]};text-align:${start};word-break:break-word;${more}"`
  const row = (attributes: string, content: string) => `<tr><td ${attributes}>${content}</td></tr>`
  const link = (labelHtml: string, url: string) =>
    `<a class="accent" href="${escapeHtml(url)}" style="color:${LIGHT.accent}">${labelHtml}</a>`

  return {
    severityBar: (tone, lineHtml) =>
      row('style="padding:8px 0 0;font-size:0;line-height:0"', '&nbsp;') +
      row(
        cell(tone, 13, `font-weight:600;padding:0 12px;border-${start}:4px solid ${LIGHT[tone]}`),
        lineHtml,
      ),
    heading: (text) =>
      row(
        cell('text', 20, 'padding:12px 0 0'),
        `<h1 style="margin:0;font-size:20px;font-weight:600;${lineHeight}">${escapeHtml(text)}</h1>`,
      ),
    paragraph: (textHtml) => row(cell('text', 16, 'padding:12px 0 0'), textHtml),
    lines: (linesHtml) =>
      linesHtml.length === 0
        ? ''
        : row(cell('text', 16, 'padding:12px 0 0'), linesHtml.join('<br>')),
    list: (items) => {
      const rows = items.map(
        ({ startHtml, textHtml }) =>
          `<tr><td valign="top" ${cell('text', 16, `padding:4px 0;padding-${end}:8px;white-space:nowrap`)}>${startHtml}</td><td valign="top" width="100%" ${cell('text', 16, 'padding:4px 0')}>${textHtml}</td></tr>`,
      )
      return rows.length === 0
        ? ''
        : row('style="padding:8px 0 0"', `${table(direction, '100%')}${rows.join('')}</table>`)
    },
    muted: (lineHtml) => row(cell('muted', 13, 'padding:12px 0 0'), lineHtml),
    button: (label, url) =>
      row(
        'style="padding:24px 0 0"',
        `${table(direction)}<tr><td class="button" bgcolor="${LIGHT.accent}" style="border-radius:8px"><a class="onAccent" href="${escapeHtml(url)}" style="${font};display:inline-block;padding:12px 24px;font-size:16px;line-height:24px;font-weight:600;color:${LIGHT.onAccent};text-decoration:none">${escapeHtml(label)}</a></td></tr></table>`,
      ),
    table: (rows) => {
      const cells = rows.map(
        ({ label, valueHtml }) =>
          `<tr><td width="40%" valign="top" ${cell('muted', 13, 'padding:4px 0')}>${escapeHtml(label)}</td><td valign="top" ${cell('text', 13, `padding:4px 0;font-family:${CODE_FONT}`)}>${valueHtml}</td></tr>`,
      )
      return rows.length === 0
        ? ''
        : row('style="padding:12px 0 0"', `${table(direction, '100%')}${cells.join('')}</table>`)
    },
    link,
    page: ({ title, preheader, asideHtml, contentHtml, footerHtml }) =>
      [
        `<!DOCTYPE html><html lang="${locale}" dir="${direction}"><head><meta charset="utf-8">`,
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">',
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
        `<title>${inertMarkup(escapeHtml(title))}</title><style>${darkScheme()}</style></head>`,
        `<body class="background" style="margin:0;padding:0;background:${LIGHT.background}">`,
        `<div style="display:none;max-height:0;overflow:hidden">${inertMarkup(escapeHtml(preheader))}</div>`,
        `${table(direction, '100%')}<tr><td class="background" align="center" bgcolor="${LIGHT.background}" style="padding:24px 12px">`,
        `<table role="presentation" dir="${direction}" width="100%" cellpadding="0" cellspacing="0" border="0" class="card" bgcolor="${LIGHT.card}" style="max-width:560px;background:${LIGHT.card};border-radius:12px"><tr><td style="padding:24px">`,
        table(direction, '100%'),
        `<tr><td style="padding:0 0 12px">${table(direction, '100%')}<tr><td ${cell('muted', 13)}>Watchdog</td><td class="muted" align="${end}" style="${font};font-size:13px;color:${LIGHT.muted};text-align:${end}">${typeset(asideHtml, locale)}</td></tr></table></td></tr>`,
        ...contentHtml.filter((piece) => piece !== '').map((piece) => typeset(piece, locale)),
        row(
          `class="line" style="padding:24px 0 0;border-bottom:1px solid ${LIGHT.line};font-size:0;line-height:0"`,
          '&nbsp;',
        ),
        ...footerHtml.map((piece) => typeset(piece, locale)),
        '</table></td></tr></table></td></tr></table></body></html>',
      ]
        .join('\n')
        .toWellFormed(),
  }
}

/**
 * Keeps a shortened address on one line, and a mailbox unless it is longer than a line. In Chinese, also sets narrow
 * punctuation in a Latin font. Mail clients find nothing to link in the text.
 */
function typeset(html: string, locale: Locale): string {
  const unbroken = html
    .replace(SHORT_ADDRESS, '<span style="white-space:nowrap">$&</span>')
    .replace(MAILBOX, '<span style="display:inline-block;max-width:100%">$&</span>')
  return inertMarkup(narrowPunctuation(unbroken, locale))
}

/** Matches in text, not in tags. */
const SHORT_ADDRESS = /0x[0-9A-Fa-f]{4}…[0-9A-Fa-f]{4}(?![^<]*>)/g

/** Matches in text, not in tags. Mail clients may break a line after a hyphen of a mailbox. */
const MAILBOX = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?![^<]*>)/g

/**
 * Sets a middle dot between spaces, and an ellipsis or apostrophe between Latin letters or digits, in a Latin
 * font, because Chinese fonts draw them full width.
 */
function narrowPunctuation(html: string, locale: Locale): string {
  if (locale !== 'zh') return html
  return html.replace(NARROW_PUNCTUATION, `<span style="font-family:${LATIN_FONTS}">$&</span>`)
}

/** Matches in text, not in tags. */
const NARROW_PUNCTUATION = /(?:(?<= )·(?= )|(?<=[A-Za-z0-9])[…’](?=[A-Za-z0-9]))(?![^<]*>)/g

function table(direction: string, width?: string): string {
  const size = width === undefined ? '' : ` width="${width}"`
  return `<table role="presentation" dir="${direction}"${size} cellpadding="0" cellspacing="0" border="0">`
}

/** Inline colours override rules, hence `!important`. */
function darkScheme(): string {
  const backgrounds = ['background', 'card'] as const
  const textColours = [
    'text',
    'muted',
    'accent',
    'onAccent',
    'critical',
    'warning',
    'fine',
    'info',
  ] as const
  const rules = [
    ...backgrounds.map((name) => `.${name}{background:${DARK[name]}!important}`),
    ...textColours.map(
      (name) => `.${name}{color:${DARK[name]}!important;border-color:${DARK[name]}!important}`,
    ),
    `.button{background:${DARK.accent}!important}`,
    `.line{border-color:${DARK.line}!important}`,
  ]
  return `:root{color-scheme:light dark}@media (prefers-color-scheme:dark){${rules.join('')}}`
}
