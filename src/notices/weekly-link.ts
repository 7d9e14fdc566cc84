import type { SecretBox } from '#src/kernel/secret-box.ts'
import { WeeklyCard } from '#src/pictures/weekly-card.ts'

const PURPOSE = 'weekly card'
/** Maximum length of the name of a watch in a link. */
const NAME_MAX = 40

/** The code of a card's picture: the content, signed. Everybody who has it sees the picture. */
export function weeklyCardCode(box: SecretBox, card: WeeklyCard): string {
  return box.signLink(PURPOSE, JSON.stringify({ ...card, name: card.name.slice(0, NAME_MAX) }))
}

/** Verifies a code; undefined if this service did not sign it. */
export function readWeeklyCard(box: SecretBox, code: string): WeeklyCard | undefined {
  const payload = box.readLink(PURPOSE, code)
  return payload === undefined ? undefined : WeeklyCard.parse(JSON.parse(payload))
}
