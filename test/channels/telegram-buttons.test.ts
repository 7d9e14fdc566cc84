import { describe, expect, test } from 'vitest'
import { unpacked } from '#src/actions/codec.ts'
import { ENVELOPE_KINDS, type MessageState } from '#src/channels/define.ts'
import { alertView } from '#src/channels/telegram-alert.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import { envelopeOf } from '../support/envelopes.ts'

const STATES: readonly MessageState[] = [
  {},
  { acknowledged: { at: new Date(0), by: null }, muted: { until: new Date(0) } },
  { muted: { until: 'recovered' } },
  { recoveredAt: new Date(0) },
]

describe('what the buttons below messages carry', () => {
  test.each(ENVELOPE_KINDS)('is read by the bot: %s', (kind) => {
    const verbs = new Set<string>()
    for (const { name, signals } of WATCH_TYPES) {
      for (const { id, group, events } of signals) {
        for (const event of [...events.alerts, 'fsp.monitoring']) {
          for (const state of STATES) {
            const message = { event, alertId: 2_147_483_647, watchId: 2_147_483_647 }
            const about = { type: name, signal: id, group, kind, message }
            for (const button of alertView(envelopeOf(about), state).keyboard.flat()) {
              if ('url' in button) continue
              const press = unpacked(button.callback_data)
              expect(press, button.callback_data).toBeDefined()
              verbs.add(press?.verb ?? '')
            }
          }
        }
      }
    }
    if (kind === 'alert') {
      expect([...verbs].sort()).toEqual([
        'alert.ack',
        'alert.help',
        'alert.mute',
        'alert.unack',
        'status',
        'topup',
        'watch.unmute',
      ])
    }
  })
})
