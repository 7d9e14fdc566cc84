import fc from 'fast-check'
import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import type { Settings } from '#src/recipients/settings.ts'
import { layout, type Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { digestScreen, REMINDERS, remindScreen } from '../features/settings/view.ts'
import { valueEditor } from '../features/watches/edit-view.ts'
import { escalationScreen } from '../features/watches/escalation-view.ts'
import { fieldsOf, findField, presetsOf, type SettingWithOwner } from './fields.ts'
import { choiceButton, type View } from './view.ts'

/** Where a tick is, the buttons of a choice are at the same places. */

const now = new Date('2026-11-20T12:00:00Z')

const PEOPLE = { recipients: [], channels: [], hereId: undefined }

/** The actions of the buttons, row by row. */
function placesOf(rows: Rows): readonly (readonly string[])[] {
  return rows.map((row) => row.map((button) => ('data' in button ? button.data : button.label)))
}

/** The number of ticks on a screen's buttons. */
const ticksOf = ({ rows }: View) => rows.flat().filter(({ label }) => label.startsWith('✓ ')).length

function expectSamePlaces(screens: readonly View[]): void {
  const [first, ...others] = screens
  for (const other of others) expect(placesOf(other.rows)).toEqual(placesOf(first?.rows ?? []))
  expect(screens.map(ticksOf)).toEqual(screens.map(() => 1))
}

test('whatever its labels are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 }),
      (labels) => {
        const ticked = (chosen: number) =>
          layout([labels.map((label, index) => choiceButton(label, index === chosen, `${index}`))])
        for (const chosen of labels.keys())
          expect(placesOf(ticked(chosen))).toEqual(placesOf(ticked(-1)))
      },
    ),
  )
})

test.each(LOCALES)('on the screens of digests, reminders and escalations, in %s', (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
  const settings = (over: object) =>
    ({ digest: 'off', digestAt: '08:00', repeat: { critical: [] }, ...over }) as unknown as Settings
  expectSamePlaces(
    (['off', '15m', '1h'] as const).map((digest) => digestScreen(reader, settings({ digest }))),
  )
  expectSamePlaces(
    Object.values(REMINDERS).map((critical) =>
      remindScreen(reader, settings({ repeat: { critical } })),
    ),
  )
  const watch = { id: 7, label: 'Alpha', escalateTo: [], recipientIds: null }
  expectSamePlaces(
    [null, 5, 15].map((escalateAfterMinutes) =>
      escalationScreen(reader, { ...watch, escalateAfterMinutes } as unknown as Watch, PEOPLE),
    ),
  )
})

test.each(LOCALES)('on the editors of all settings of every type of watch, in %s', (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
  for (const { name } of REGISTRY) {
    const common = ['sev'].flatMap((code) => findField(name, code) ?? [])
    for (const owned of [...fieldsOf(name), ...common]) {
      const screens = presetsOf(reader, owned, {}).map(({ value }) =>
        valueEditor(reader, watchWith(name, owned, value), owned, { now, canTry: false }),
      )
      expectSamePlaces(screens)
    }
  }
})

function watchWith(type: string, { owner, field }: SettingWithOwner, value: string): Watch {
  const set = { [field.key]: value }
  const target = { address: `0x${'1'.repeat(40)}`, asset: 'FLR', feed: 'FLR/USD' }
  return {
    ...{ id: 7, type, label: 'Alpha', target, settings: owner === 'watch' ? {} : set },
    ...{ lastObservation: null, ...(owner === 'watch' && set) },
  } as unknown as Watch
}
