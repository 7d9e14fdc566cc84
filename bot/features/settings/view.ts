import { packed } from '#src/actions/codec.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import { id } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import { localeName } from '#src/kernel/locale.ts'
import type { Settings } from '#src/recipients/settings.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { clockTime } from '../../views/time.ts'
import {
  act,
  back,
  choiceButton,
  inRows,
  menuButton,
  type Reader,
  screen,
  type View,
  walletName,
} from '../../views/view.ts'
import { regionRows, suggestedZones, zoneButton } from '../../views/zones.ts'
import { SEVERITY_BY_CODE } from '../recipients/edit-view.ts'

interface SettingsOptions {
  readonly now: Date
  /** URL of the pages, without a trailing slash. */
  readonly pages: string
  /** Line about the last action: HTML. */
  readonly notice?: string | undefined
}

/** Settings of the chat, and of its wallet where the chat may change them. */
export function settingsScreen(
  reader: Reader,
  wallet: WalletSettings | undefined,
  { now, notice, pages }: SettingsOptions,
): View {
  const { t, timezone } = reader
  const chat = {
    language: localeName(t.locale),
    zone: id(modernZone(timezone)),
    time: clockTime(reader, now),
  }
  const lines = [notice, t.html('bot:settings.title'), t.html('bot:settings.chat', chat)]
  const rest = [
    act(`🌐 ${t('bot:button.language')}`, packed('settings.lang')),
    act(t('bot:button.wallets'), packed('wallet.list')),
  ]
  if (wallet === undefined) {
    const others = [
      act(t('bot:button.help'), packed('help', { topic: undefined })),
      act(t('bot:button.mute'), packed('mute.list')),
    ]
    return screen(
      [...lines, t.html('bot:chat.receiveOnly')],
      [[...rest, ...others], [menuButton(t)]],
    )
  }
  return screen(
    [...lines, ...walletLines(reader, wallet)],
    [
      [act(t('bot:button.alertTimes'), packed('settings.alerts'))],
      [act(t('bot:button.recipients'), packed('rec.list')), ...rest],
      isOpenLink(pages) ? [{ label: t('bot:button.apiTokens'), url: `${pages}/tokens` }] : [],
      [menuButton(t)],
    ],
  )
}

/** A wallet with its settings. */
interface WalletSettings {
  readonly address: string
  readonly settings: Settings
}

function walletLines(reader: Reader, { address, settings }: WalletSettings): readonly string[] {
  const { t } = reader
  const { minSeverity, recoveries, weeklyCard, epochReport } = settings
  return [
    t.html('bot:settings.wallet', { wallet: id(walletName(address)) }),
    quietLine(reader, settings),
    digestLine(reader, settings),
    remindLine(reader, settings),
    t.html('bot:settings.severity', { severity: t(`bot:severity.${minSeverity}`) }),
    t.html(`bot:settings.recoveries.${onOff(recoveries)}`),
    t.html(`bot:settings.weekly.${onOff(weeklyCard)}`),
    t.html(`bot:settings.report.${onOff(epochReport)}`),
  ]
}

/** Which alerts of a wallet are sent, and when. */
export function alertTimesScreen(reader: Reader, wallet: WalletSettings): View {
  const { t } = reader
  return screen(walletLines(reader, wallet), [
    [
      act(t('bot:button.mute'), packed('mute.list')),
      act(t('bot:button.quiet'), quietData('show', '1')),
      act(t('bot:button.digest'), packed('settings.digest', { value: 'show' })),
      act(t('bot:button.reminders'), packed('settings.remind', { choice: 'ask' })),
      act(t('bot:button.severity'), packed('settings.severity', { level: 'ask' })),
    ],
    [backToSettings(t)],
  ])
}

/** Choice of the lowest severity that is sent, and whether recoveries are. */
export function severityScreen(
  reader: Reader,
  { minSeverity, recoveries }: Settings,
  options: { readonly notice?: string | undefined } = {},
): View {
  const { t } = reader
  const choices = Object.entries(SEVERITY_BY_CODE).map(([level, severity]) => {
    const data = packed('settings.severity', { level })
    return [choiceButton(t(`bot:button.from.${severity}`), severity === minSeverity, data)]
  })
  return screen(
    [
      options.notice,
      t.html('bot:settings.severity', { severity: t(`bot:severity.${minSeverity}`) }),
      t.html(`bot:settings.recoveries.${onOff(recoveries)}`),
    ],
    [
      ...choices,
      [
        act(
          t(`bot:button.recoveries.${onOff(recoveries)}`),
          packed('settings.recoveries', { on: !recoveries }),
        ),
      ],
      [backToAlertTimes(t)],
    ],
  )
}

/** Button back to when alerts are sent. */
function backToAlertTimes(t: Reader['t']): Button {
  return back(t('bot:button.back'), packed('settings.alerts'))
}

function onOff(value: boolean): 'on' | 'off' {
  return value ? 'on' : 'off'
}

function quietLine({ t }: Reader, { quietHours }: Settings): string {
  const { enabled, from, to, criticalBypass } = quietHours
  const times = { from: id(from), to: id(to) }
  if (!enabled) return t.html('bot:settings.quiet.off', times)
  return t.html(criticalBypass ? 'bot:settings.quiet.bypass' : 'bot:settings.quiet.all', times)
}

function digestLine({ t }: Reader, { digest, digestAt }: Settings): string {
  return t.html(`bot:settings.digest.${digest}`, { time: id(digestAt) })
}

function remindLine({ t }: Reader, { repeat }: Settings): string {
  const choice = remindChoice(repeat.critical)
  if (choice !== undefined) return t.html(`bot:settings.remind.${choice}`)
  return t.html('bot:settings.remind.other', { minutes: id(repeat.critical.join(', ')) })
}

/** Data of a button about quiet hours. */
function quietData(field: QuietField, value: string): string {
  return packed('settings.quiet', { field, value })
}

/** Fields that a button about quiet hours sets; `show` opens the screen, `ask` a question. */
export const QUIET_FIELDS = ['show', 'on', 'from', 'to', 'crit', 'ask'] as const
export type QuietField = (typeof QUIET_FIELDS)[number]

/** Offered bounds of the quiet hours. */
const QUIET_TIMES = {
  from: ['21:00', '22:00', '23:00', '00:00'],
  to: ['06:00', '07:00', '08:00', '09:00'],
} as const

/** A time of day in button data: `2200`. */
function packedTime(time: string): string {
  return time.replace(':', '')
}

/** The time of day of button data; undefined if malformed. */
export function unpackedTime(text: string): string | undefined {
  return /^(?:[01]\d|2[0-3])[0-5]\d$/.test(text)
    ? `${text.slice(0, 2)}:${text.slice(2)}`
    : undefined
}

/** Screen of the quiet hours: whether they are enabled, their bounds, and exceptions. */
export function quietScreen(
  reader: Reader,
  settings: Settings,
  options: { readonly notice?: string | undefined } = {},
): View {
  const { t, timezone } = reader
  const { enabled, from, to, criticalBypass } = settings.quietHours
  const lines = [
    options.notice,
    t.html('bot:quiet.title'),
    t.html('bot:quiet.help'),
    quietLine(reader, settings),
    criticalBypass ? undefined : `⚠️ ${t.html('bot:quiet.nothing')}`,
    t.html('bot:quiet.zone', { zone: id(modernZone(timezone)) }),
  ]
  return screen(lines, [
    [
      choiceButton(t('bot:value.on'), enabled, quietData('on', '1')),
      choiceButton(t('bot:value.off'), !enabled, quietData('on', '0')),
    ],
    [
      act(t('bot:button.quietFrom', { time: id(from) }), quietData('ask', 'from')),
      act(t('bot:button.quietTo', { time: id(to) }), quietData('ask', 'to')),
    ],
    [
      choiceButton(
        t('bot:button.bypass'),
        criticalBypass,
        quietData('crit', criticalBypass ? '0' : '1'),
      ),
    ],
    [backToAlertTimes(t)],
  ])
}

/** Button back to the settings. */
function backToSettings(t: Reader['t']): Button {
  return back(t('bot:button.settings'), packed('settings'))
}

const DIGEST_TIMES = ['07:00', '08:00', '09:00', '18:00'] as const

/** Digest: frequency, and time of the daily one. */
export function digestScreen(
  reader: Reader,
  settings: Settings,
  options: { readonly notice?: string | undefined } = {},
): View {
  const { t } = reader
  const { digest, digestAt, weeklyCard, epochReport } = settings
  const choice = (value: Settings['digest']) =>
    choiceButton(
      t(`bot:button.digest.${value}`),
      value === digest,
      packed('settings.digest', { value }),
    )
  const times =
    digest === 'daily'
      ? [
          ...DIGEST_TIMES.map((time) =>
            choiceButton(
              time,
              time === digestAt,
              packed('settings.digest', { value: `at${packedTime(time)}` }),
            ),
          ),
          act(t('bot:button.otherTime'), packed('settings.digest', { value: 'ask' })),
        ]
      : []
  const lines = [
    options.notice,
    t.html('bot:digest.title'),
    t.html('bot:digest.help'),
    digestLine(reader, settings),
  ]
  return screen(lines, [
    [choice('off'), choice('15m'), choice('1h')],
    [choice('daily')],
    ...inRows(times, 3),
    [
      choiceButton(
        t('bot:button.weekly'),
        weeklyCard,
        packed('settings.weekly', { on: !weeklyCard }),
      ),
    ],
    [
      choiceButton(
        t('bot:button.report'),
        epochReport,
        packed('settings.report', { on: !epochReport }),
      ),
    ],
    [backToAlertTimes(t)],
  ])
}

/** Minutes of the reminders of unacknowledged alerts, by the short name of the choice. */
export const REMINDERS = {
  off: [],
  std: [15, 60, 240],
  fst: [5, 15, 60],
  hr: Array.from({ length: 24 }, (_, hour) => (hour + 1) * 60),
} as const satisfies Readonly<Record<string, readonly number[]>>
export type RemindChoice = keyof typeof REMINDERS
const REMIND_CHOICES = ['off', 'std', 'fst', 'hr'] as const satisfies readonly RemindChoice[]

/** The choice with these minutes; undefined for other minutes, which programs can set. */
function remindChoice(minutes: readonly number[]): RemindChoice | undefined {
  return REMIND_CHOICES.find((choice) => REMINDERS[choice].join() === minutes.join())
}

/** Reminders of critical alerts. */
export function remindScreen(
  reader: Reader,
  settings: Settings,
  options: { readonly notice?: string | undefined } = {},
): View {
  const { t } = reader
  const chosen = remindChoice(settings.repeat.critical)
  const lines = [
    options.notice,
    t.html('bot:remind.title'),
    t.html('bot:remind.help'),
    remindLine(reader, settings),
  ]
  return screen(lines, [
    ...REMIND_CHOICES.map((choice) => [
      choiceButton(
        t(`bot:button.remind.${choice}`),
        choice === chosen,
        packed('settings.remind', { choice }),
      ),
    ]),
    [backToAlertTimes(t)],
  ])
}

/** Question for a time of day. */
export function timeQuestion({ t }: Reader, what: 'from' | 'to' | 'digest'): View {
  const data =
    what === 'digest' ? packed('settings.digest', { value: 'show' }) : quietData('show', '1')
  const offered =
    what === 'digest'
      ? []
      : QUIET_TIMES[what].map((time) => act(time, quietData(what, packedTime(time))))
  return screen(
    [t.html(`bot:ask.${what}`)],
    [
      ...inRows(offered, 2),
      [back(t(what === 'digest' ? 'bot:button.digest' : 'bot:button.quiet'), data)],
    ],
  )
}

/** The time zone of the chat: regions to browse, and suggestions. */
export function zoneScreen(
  reader: Reader,
  options: { readonly now: Date; readonly notice?: string | undefined },
): View {
  const { t, timezone } = reader
  const { now, notice } = options
  const lines = [
    notice,
    t.html('bot:zone.title', { zone: id(modernZone(timezone)), time: clockTime(reader, now) }),
    t.html('bot:zone.send'),
  ]
  const guesses = suggestedZones(t.locale, timezone).map((zone) =>
    zoneButton(reader, zone, now, packed('settings.zoneSet', { zone })),
  )
  return screen(lines, [guesses, ...regionRows(t), [backToSettings(t)]])
}
