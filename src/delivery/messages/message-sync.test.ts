import fc from 'fast-check'
import { parseUnits } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { renderMessage } from '#src/alerts/messages/render.ts'
import type { MessageState } from '#src/channels/envelope.ts'
import { discordBody } from '#src/channels/hooks/discord.ts'
import { slackBody } from '#src/channels/hooks/slack.ts'
import { alertMail } from '#src/channels/mail/content.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { translate } from '#src/i18n/translate.ts'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { currentContent, groupEnvelope, type ShownPart } from './message-sync.ts'

const READER = {
  address: 'ops@example.org',
  wallet: `0x${'1'.repeat(40)}`,
  unsubscribeUrl: undefined,
}

const SENT_AT = new Date('2026-11-20T09:13:05Z')

test('alerts of one instant are listed in the order of their ids', () => {
  const parts = [5, 3, 4].map((alertId) => ({
    alertId,
    envelope: envelopeOf({
      message: { alertId, severity: alertId === 4 ? 'critical' : 'warning' },
    }),
  }))
  const { items, message } = groupEnvelope('group', 'd', parts)
  expect(items?.map(({ alertId }) => alertId)).toEqual([3, 4, 5])
  expect(message).toMatchObject({ alertId: 4, severity: 'critical' })
})

describe('an outage of a provider to which other signals are added', () => {
  const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
  const COMMIT = 1
  const FAST_UPDATES = 6
  const OTHER = 7

  const partOf = (alertId: number, signal: string, over: object = {}): ShownPart => {
    const since = '2026-11-20T09:10:00.000Z'
    return {
      alertId,
      envelope: envelopeOf({
        type: 'provider-fsp',
        signal,
        data: { reason: 'missing', since, streak: 2 },
        timezone: 'UTC',
        message: {
          alertId,
          watchLabel: 'Alpha',
          event: `fsp.${signal}`,
          severity: 'warning',
          title: `No ${signal}`,
          firedAt: `2026-11-20T09:13:0${alertId}.000Z`,
          canRecover: true,
          fields: [],
          ...over,
        },
      }),
    }
  }
  const duties = DUTIES.map((signal, index) => partOf(index + 1, signal))
  const parts = [
    ...duties,
    partOf(FAST_UPDATES, 'fast-updates', { severity: 'critical' }),
    partOf(OTHER, 'chilled', { severity: 'critical', canRecover: false }),
  ]
  const lowGas = partOf(OTHER, 'balance-low')
  const body = translate('en', 'messages:group.silentBody')
  const action = translate('en', 'messages:group.silentAction')
  const heading = '\u2068Alpha\u2069 has sent no votes since 09:10 (2 rounds)'

  const over = (seconds: number): MessageState => ({
    recoveredAt: new Date('2026-11-20T09:40:00Z'),
    recovery: () => ({ title: 'Well again', seconds }),
    lostRounds: 8,
  })
  const shown = (
    all: readonly ShownPart[],
    states: ReadonlyMap<number, MessageState> = new Map(),
  ) => {
    const content = currentContent(
      { id: 'd', kind: 'group', openPart: 'action', sentAt: SENT_AT },
      all,
      states,
    )
    if (content === undefined) throw new Error('no message')
    return alertView(content.envelope, content.state).plain
  }

  test('keeps its cause, its damage and its first step, and lists them', () => {
    const text = shown(parts)
    expect(text.split('\n').slice(0, 4)).toEqual([
      `🔴 ${heading}`,
      'Critical · since 09:10\u00a0UTC',
      '',
      body,
    ])
    expect(text).toContain('🔴 No fast-updates\n🔴 No chilled')
    expect(text.endsWith(`\n\n${action}`)).toBe(true)
  })

  test('keeps the subject and the first step of its mail', () => {
    const { subject, text } = alertMail(groupEnvelope('group', 'd', parts), READER)
    expect(subject).toContain('Alpha has sent no votes since 09:10 (2 rounds)')
    expect(text).toContain('1. Check on the server that the client is running')
    expect(text).not.toContain('No ftso-commit\n1.')
  })

  const later = (kind: 'reminder' | 'raised', { alertId, envelope }: ShownPart): ShownPart => {
    const { data, message } = envelope
    const { title } = message
    const reminded = {
      title: `${title} · not resolved`,
      body: 'Active for 25 minutes.',
    }
    return {
      alertId,
      envelope: {
        ...envelope,
        kind,
        data: { ...data, streak: 17 },
        answers: alertId ?? 0,
        answered: { severity: 'critical', title },
        message: { ...message, severity: 'critical', ...(kind === 'reminder' && reminded) },
      },
    }
  }
  const now = '\u2068Alpha\u2069 has sent no votes since 09:10 (17 rounds)'

  test('leads its reminder, which says what is lost by now and when the next one comes', () => {
    const reminder = duties.map((part) => later('reminder', part))
    expect(shown(reminder).split('\n').slice(0, 5)).toEqual([
      `🔴 ${now} · not resolved`,
      'Critical · since 09:10\u00a0UTC',
      '',
      body,
      'Active for 25 minutes.',
    ])
    expect(shown(reminder)).toContain('\n🔴 No ftso-commit\n')
    expect(shown(reminder).endsWith(`\n\n${action}`)).toBe(true)
    const states = new Map([1, 2, 3, 4, 5].map((id) => [id, over(1800)]))
    expect(shown(reminder, states)).toMatch(new RegExp(`^🟢 ${now.slice(0, 5)}.* · recovered\n`))
  })

  test('is named once in the mail of its reminder, with the cause and the figures of now', () => {
    const reminder = duties.map((part) => later('reminder', part))
    const { subject, text } = alertMail(groupEnvelope('group', 'd', reminder), READER)
    expect(subject).toBe(
      'Re: Alpha has sent no votes since 09:10 (17 rounds) · not resolved · Critical',
    )
    expect(text).toContain('Alpha has sent no votes since 09:10 (17 rounds) · not resolved')
    const others = reminder.slice(0, 2)
    expect(alertMail(groupEnvelope('group', 'd', others), READER).subject.match(/Alpha/g)).toEqual([
      'Alpha',
    ])
  })

  test('leads its message with the severities to which its alerts have risen', () => {
    const raised = duties.map((part) => later('raised', part))
    expect(
      shown([...duties, ...raised])
        .split('\n')
        .slice(0, 2),
    ).toEqual([`🔴 ${now}`, 'Critical · since 09:10\u00a0UTC'])
  })

  test('has the figures of now in every message that is shown again', () => {
    const current = (title: string): MessageState => ({
      current: () => ({
        title,
        fields: [],
        data: { reason: 'missing', since: '2026-11-20T09:10:00.000Z', streak: 17 },
      }),
    })
    const states = new Map(DUTIES.map((signal, index) => [index + 1, current(`Now ${signal}`)]))
    expect(shown(duties, states)).toContain(`🔴 ${now}\n`)
    expect(shown(duties, states)).toContain('🟠 Now ftso-commit')
    const [alone] = duties
    if (alone === undefined) throw new Error('there is no duty')
    const single = (kind: 'alert' | 'reminder', state: MessageState) => {
      const part = kind === 'reminder' ? later(kind, alone) : alone
      const sent = { id: 'd', kind, openPart: null, sentAt: SENT_AT }
      const content = currentContent(sent, [part], new Map([[COMMIT, state]]))
      return content && alertView(content.envelope, content.state).plain.split('\n')[0]
    }
    expect(single('alert', current('Now'))).toBe('🟠 \u2068Alpha\u2069: Now')
    expect(single('reminder', current('Now'))).toBe('🔴 \u2068Alpha\u2069: Now · not resolved')
    const ended = { recoveredAt: new Date('2026-11-20T09:40:00Z') }
    expect(single('alert', { ...current('Now'), ...ended })).toBe(
      '🟢 \u2068Alpha\u2069: Now · recovered',
    )
  })

  test('keeps the heading that no votes are sent when another signal recovers, but not when a vote does', () => {
    const all = [...duties, parts[5], lowGas].flatMap((part) => part ?? [])
    for (const alertId of [OTHER, FAST_UPDATES]) {
      const text = shown(all, new Map([[alertId, over(60)]]))
      expect(text).toContain(heading)
      expect(text).toContain(body)
    }
    const text = shown(all, new Map([[COMMIT, over(60)]]))
    expect(text).toMatch(/^🟠|^🔴/)
    expect(text).not.toContain('has sent no votes')
  })

  test('names the one protocol whose votes still fail when the votes of the other have recovered', () => {
    const well = new Map([1, 2, 3].map((id) => [id, over(60)]))
    const text = shown(duties, well)
    expect(text).toMatch(/^🟠 \u2068Alpha\u2069: no valid FDC votes since 09:10 \(2 rounds\)\n/)
    expect(text).toContain(translate('en', 'messages:group.fdcBody'))
    expect(text.endsWith(`\n\n${translate('en', 'messages:group.fdcAction')}`)).toBe(true)
    // When one of its votes has recovered too, no protocol is left whose votes all fail.
    expect(shown(duties, new Map([...well, [4, over(60)]]))).not.toContain('no valid')
  })

  test('lasted as long as its duties were missed', () => {
    const states = new Map([1, 2, 3, 4, 5].map((id) => [id, over(1800)]))
    const all = [...duties, lowGas]
    expect(
      shown(all, states.set(OTHER, over(90_000)))
        .split('\n')
        .slice(0, 2),
    ).toEqual([
      '🟢 \u2068Alpha\u2069 is healthy again · down 30 min, 8 rounds lost',
      'Recovered · active 09:10 to 09:40\u00a0UTC',
    ])
  })

  test('does not end in health while the provider is chilled, or when its watch was deleted', () => {
    const recovered = new Map([1, 2, 3, 4, 5, FAST_UPDATES].map((id) => [id, over(1800)]))
    expect(shown(parts, recovered)).toContain('\u2068Alpha\u2069: 7 alerts have ended')
    const closed = new Map(DUTIES.map((_, index) => [index + 1, { closedAt: new Date(0) }]))
    expect(shown(duties, closed)).toContain('\u2068Alpha\u2069: 5 alerts have ended')
  })

  test('says how long nobody has acknowledged it where it was escalated, until somebody does', () => {
    const escalated = (seconds: number, { alertId, envelope }: ShownPart): ShownPart => {
      return { alertId, envelope: { ...envelope, unacknowledgedSeconds: seconds } }
    }
    const line = 'No one has acknowledged this alert. It has been active for 15 minutes.'
    const all = duties.map((part, index) => escalated(900 - index * 60, part))
    expect(shown([...all, lowGas])).toContain(`${body}\n${line}`)
    const [first, second] = all
    const pair = [first, second].flatMap((part) => part ?? [])
    expect(shown(pair)).toContain(`\n\n${line}\n\n🟠 No ftso-commit`)
    expect(shown(duties)).not.toContain('No one has acknowledged')
    const acknowledged = { at: new Date('2026-11-20T09:30:00Z'), by: null }
    expect(shown(pair, new Map([[COMMIT, { acknowledged }]]))).not.toContain('No one has')
    expect(shown(pair, new Map([1, 2].map((id) => [id, over(1800)])))).not.toContain('No one has')
  })
})

describe('transfers in both directions', () => {
  const ACCOUNT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const wei = (whole: string) => parseUnits(whole, 18).toString()
  const moved = (alertId: number, amount: string, over: object = {}): ShownPart => {
    const isSent = amount.startsWith('-')
    const data = {
      ...{ asset: 'FLR', symbol: 'FLR', decimals: 18, threshold: '1', blockNumber: alertId },
      ...{ previousAmount: wei('1000'), currentAmount: wei('500'), changeAmount: wei(amount) },
      ...{ direction: isSent ? 'outgoing' : 'incoming', counterparty: ACCOUNT, usd: null },
      ...{ address: `0x${'3'.repeat(40)}`, blockTime: '2026-11-20T09:13:00.000Z' },
      transactionHash: `0x${String(alertId).repeat(64)}`,
      ...{ transactions: [], transactionCount: 0 },
      ...over,
    }
    const message = renderMessage(
      {
        ...{
          alertId,
          incidentId: alertId,
          watchId: 3,
          watchLabel: 'Savings',
          event: 'wallet-balance.moved',
          data,
        },
        severity: isSent ? 'warning' : 'info',
        firedAt: new Date(Date.UTC(2026, 10, 20, 9, 13, alertId)),
        link: 'https://watchdog.example.org/a/x',
        test: false,
      },
      { locale: 'en', timezone: 'UTC' },
    )
    return { alertId, envelope: { ...envelopeOf({ data, timezone: 'UTC' }), message } }
  }
  const movements = [moved(1, '-500'), moved(2, '499.999979')]
  const contentOf = (parts: readonly ShownPart[]) => {
    const sent = { id: 'd', kind: 'group', openPart: null, sentAt: SENT_AT } as const
    const content = currentContent(sent, parts, new Map())
    if (content === undefined) throw new Error('no message')
    return content
  }
  const lines = (parts: readonly ShownPart[]) => {
    const { envelope, state } = contentOf(parts)
    const { plain } = alertView(envelope, state)
    return plain
      .replaceAll(/[\u2066-\u2069]/g, '')
      .replaceAll('\u00a0', ' ')
      .split('\n')
  }

  test('say both amounts, what they come to, and of each the time, the account and the transaction', () => {
    expect(lines(movements)).toEqual([
      '🟠 Savings sent 500 FLR and received 499.999979 FLR',
      'Warning · at 09:13:01 UTC',
      '',
      'Net change: −0.000021 FLR',
      '',
      '09:13:01 🟠 500 FLR left the wallet · To: 0x7099…79C8 · Transaction ↗',
      '09:13:02 🔵 499.999979 FLR arrived · From: 0x7099…79C8 · Transaction ↗',
    ])
  })

  test('link each transaction by a name, in every channel that has links', () => {
    const { envelope, state } = contentOf(movements)
    for (const text of [
      alertView(envelope, state).html,
      alertMail(envelope, READER).html,
      alertMail(envelope, READER).text,
      slackBody(envelope),
      discordBody(envelope),
    ]) {
      for (const { envelope: part } of movements) {
        expect(text).toContain(`/tx/${part.data['transactionHash']}`)
      }
      expect(text.match(/Transaction/g)).toHaveLength(2)
      expect(text).not.toMatch(/#[12]\b/)
    }
  })

  test('never write amounts alike that differ, however little, and however many there are', () => {
    const digit = fc.bigInt({ min: 1n, max: 10n ** 22n })
    const near = fc.bigInt({ min: 0n, max: 10n ** 16n })
    fc.assert(
      fc.property(digit, near, fc.boolean(), (units, less, isTwice) => {
        const amounts = [units + less, units, ...(isTwice ? [units] : [])]
        const parts = amounts.map((amount, index) =>
          moved(index + 1, '1', { changeAmount: String(index === 0 ? -amount : amount) }),
        )
        const text = lines(parts).filter((line) => / (sent|left|arrived)\b/.test(line))
        const shown = text.join('\n').match(/[\d.,]+ FLR/g) ?? []
        const sums = isTwice ? [units + less, units * 2n] : [units + less, units]
        const known = [...sums, ...amounts].map(String)
        expect(shown).toHaveLength(known.length)
        for (const [place, amount] of known.entries()) {
          for (const [otherPlace, value] of known.entries()) {
            expect(shown[place] === shown[otherPlace]).toBe(amount === value)
          }
        }
      }),
    )
  })

  test('state no sum if the amounts cancel out, or all have one direction', () => {
    for (const parts of [
      [moved(1, '-5'), moved(2, '5')],
      [moved(1, '-5'), moved(2, '-6')],
    ]) {
      expect(lines(parts).join('\n')).not.toContain('Net change')
    }
    expect(lines([moved(1, '-5'), moved(2, '6')])).toContain('Net change: +1 FLR')
  })
})
