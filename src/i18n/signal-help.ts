import { hasText, type Translate } from './translate.ts'

/** Texts of a signal's help, in the order in which they are read. */
export const HELP_TEXTS = ['checked', 'why', 'causes', 'action'] as const
type HelpName = (typeof HELP_TEXTS)[number]

/** The texts of a signal's help; missing ones are omitted. */
export type SignalHelp = Readonly<Partial<Record<HelpName, string>>>

/**
 * Sections of a signal's help. A message opens one at a time. `why` is the texts `checked` and `why`.
 */
export const SIGNAL_HELP_SECTIONS = ['why', 'causes', 'action'] as const
export type SignalHelpSection = (typeof SIGNAL_HELP_SECTIONS)[number]

interface SignalRef {
  readonly type: string | null
  readonly signal: string | null
  /** Which texts are for some of the signal's alerts only: `help.<form>.<name>`, where they exist. */
  readonly form?: string | undefined
}

/** The help of a signal. */
export function signalHelp(t: Translate, { type, signal, form }: SignalRef): SignalHelp {
  return Object.fromEntries(
    HELP_TEXTS.flatMap((name) => {
      const help = `signals:${type}.${signal}.help`
      const key = [`${help}.${form}.${name}`, `${help}.${name}`].find(hasText)
      return key === undefined ? [] : [[name, t(key)]]
    }),
  )
}

/** The texts of one section of a signal's help; undefined if there are none. */
export function helpText(
  t: Translate,
  ref: SignalRef,
  section: SignalHelpSection,
): string | undefined {
  const help = signalHelp(t, ref)
  const texts = section === 'why' ? [help.checked, help.why] : [help[section]]
  return texts.filter((text) => text !== undefined).join('\n\n') || undefined
}
