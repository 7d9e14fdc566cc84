import { UnexpectedAnswerError } from '../customer.ts'

/** A page as a person sees it. */
export interface WebPage {
  readonly url: string
  /** Text of the page, without markup. */
  readonly text: string
  readonly html: string
}

const ANSWER_TIMEOUT_MS = 10_000

/**
 * Opens a page.
 * @throws UnexpectedAnswerError when it is missing
 */
export async function openPage(url: string, init: RequestInit = {}): Promise<WebPage> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const response = await fetch(url, { ...init, signal })
  const html = await response.text()
  if (!response.ok) {
    throw new UnexpectedAnswerError(
      `the page ${url}`,
      `${response.status} ${textOf(html).slice(0, 200)}`,
    )
  }
  return { url: response.url, html, text: textOf(html) }
}

/**
 * Presses a button of a form and returns the next page.
 *
 * @throws UnexpectedAnswerError when the page has no such button
 */
export async function pressButton(page: WebPage, label: string): Promise<WebPage> {
  for (const [, attributes = '', content = ''] of page.html.matchAll(FORM)) {
    const button = [...content.matchAll(BUTTON)].find(([, , text = '']) => textOf(text) === label)
    if (button === undefined) continue
    const hidden = [...content.matchAll(HIDDEN)].map(([, input = '']) => input)
    const fields = [...hidden, button[1] ?? ''].flatMap((tag) => {
      const name = attributeOf(tag, 'name')
      return name === undefined ? [] : [[name, attributeOf(tag, 'value') ?? '']]
    })
    return openPage(new URL(attributeOf(attributes, 'action') ?? '', page.url).href, {
      method: attributeOf(attributes, 'method') ?? 'get',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  }
  throw new UnexpectedAnswerError(
    `the button “${label}” on ${page.url}`,
    `“${page.text.slice(0, 300)}”`,
  )
}

const FORM = /<form\b([^>]*)>([\s\S]*?)<\/form>/g
const BUTTON = /<button\b([^>]*)>([\s\S]*?)<\/button>/g
const HIDDEN = /<input\b([^>]*type="hidden"[^>]*)>/g

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : unescaped(value)
}

function textOf(html: string): string {
  const visible = html.replace(/<(style|script)\b[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ')
  return unescaped(visible).replace(/\s+/g, ' ').trim()
}

function unescaped(text: string): string {
  const signs: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' }
  return text
    .replace(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(lt|gt|quot|amp);/g, (_all, name: string) => signs[name] ?? '')
}
