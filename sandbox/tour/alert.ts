import { z } from 'zod'
import { UnexpectedAnswerError } from '../customer.ts'
import type { ReceivedRequest } from '../receiver.ts'
import { normalizedText } from './chat.ts'
import { openPage } from './web-page.ts'

/** Expected values of an alert. */
export interface ExpectedAlert {
  readonly label: string
  /** Change of the balance in the asset's smallest unit, with a sign if it is negative. */
  readonly changeAmount: string
}

const Payload = z.object({
  event: z.literal('wallet-balance.moved'),
  label: z.string(),
  data: z.object({ changeAmount: z.string() }),
  renderedMessage: z.object({ link: z.url(), test: z.literal(false) }),
})

/** Whether a webhook is an alert about a balance; tests are not. */
export function isBalanceAlert({ json }: ReceivedRequest): boolean {
  return Payload.safeParse(json).success
}

/**
 * Checks a webhook as a customer would.
 *
 * @returns the link to the alert's page
 * @throws UnexpectedAnswerError when a signature is invalid or the alert differs; ZodError when the body is no
 * alert about a balance
 */
export function checkWebhook(received: ReceivedRequest, expected: ExpectedAlert): string {
  checkSignatures(received)
  const { label, data, renderedMessage } = Payload.parse(received.json)
  const actual = { label, changeAmount: data.changeAmount }
  if (label !== expected.label || data.changeAmount !== expected.changeAmount) {
    throw new UnexpectedAnswerError(JSON.stringify(expected), JSON.stringify(actual))
  }
  return renderedMessage.link
}

/**
 * Checks both signatures.
 * @throws UnexpectedAnswerError
 */
export function checkSignatures({ verdicts }: ReceivedRequest): void {
  if (verdicts?.watchdog.ok === true && verdicts.standard.ok) return
  throw new UnexpectedAnswerError('valid signatures', JSON.stringify(verdicts))
}

/**
 * URLs of alert pages in a text, markup or JSON.
 * @throws UnexpectedAnswerError without any
 */
export function getAlertLinks(publicUrl: string, text: string): readonly string[] {
  const links = text.match(/https?:\/\/[^\s"'<>\\]+/g) ?? []
  const alertLinks = links.filter((link) => link.startsWith(`${publicUrl}/a/`))
  if (alertLinks.length === 0) throw new UnexpectedAnswerError(`a link to ${publicUrl}/a/…`, text)
  return alertLinks
}

/**
 * Opens each page and searches for the texts on it.
 * @throws UnexpectedAnswerError if one is missing
 */
export async function openAlertPages(
  links: readonly string[],
  texts: readonly string[],
): Promise<void> {
  for (const link of new Set(links)) {
    const page = await openPage(link)
    const missing = texts.find((text) => !normalizedText(page.text).includes(normalizedText(text)))
    if (missing !== undefined)
      throw new UnexpectedAnswerError(`“${missing}” on ${link}`, `“${page.text}”`)
  }
}
