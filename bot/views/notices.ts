import { builtKey, escapeHtml, id } from '#src/i18n/translate.ts'
import { packed } from '../callback-data.ts'
import { back, menuButton, type Reader, type Rows, screen, type View } from './view.ts'

/** How the bot is used, and its commands. Buttons are for chats where they lead somewhere. */
export function help(
  { t }: Reader,
  commands: readonly string[],
  options: { readonly buttons: boolean },
): View {
  const lines = [
    t.html('bot:help.title'),
    t.html('bot:help.text'),
    '',
    ...commands.map((command) =>
      t.html('bot:help.command', {
        command: id(`/${command}`),
        description: t(builtKey(`bot:command.${command}`)),
      }),
    ),
    '',
    t.html('bot:start.safety'),
  ]
  return screen(lines, options.buttons ? [[menuButton(t)]] : [])
}

/** `/cancel` while nothing is asked. */
export function nothingOpen({ t }: Reader): View {
  return screen([t.html('bot:cancel.nothing')], [[menuButton(t)]])
}

/** A text, or something that is no text, which means nothing here. */
export function notUnderstood({ t }: Reader, options: { readonly isText: boolean }): View {
  const text = t.html(options.isText ? 'bot:unknown.text' : 'bot:unknown.media')
  return screen([text], [[menuButton(t)]])
}

/** What was asked for is not there, or not this chat's. */
export function gone({ t }: Reader, options: { readonly buttons: boolean }): View {
  const list = back(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  return screen([t.html('bot:error.gone')], options.buttons ? [[list]] : [])
}

/** A chat whose last link was taken away. */
export function unlinked({ t }: Reader): View {
  return screen([t.html('bot:chat.unlinked')])
}

/** A refusal as a screen of its own. @param sentence plain text */
export function refusal(
  { t }: Reader,
  sentence: string,
  options: { readonly buttons: boolean },
): View {
  const lines = [`${WARNING} ${escapeHtml(sentence)}`]
  return screen(lines, options.buttons ? [[menuButton(t)]] : [])
}

/** After so many refused answers the way out is named. */
const REFUSALS_PATIENT = 3

/** A question asked again: why the answer was refused, and what may have been meant, above it. */
export function withRefusal(
  { t }: Reader,
  view: View,
  refusal: { readonly html: string; readonly rows?: Rows; readonly refusals: number },
): View {
  const way = refusal.refusals >= REFUSALS_PATIENT ? t.html('bot:typed.cancel') : undefined
  const lines = [`${WARNING} ${refusal.html}`, way, '', view.html]
  return screen(lines, [...(refusal.rows ?? []), ...view.rows])
}

/** Something that is never shown in a group. @param link into the private chat */
export function privateMatter({ t }: Reader, link: string): View {
  return screen(
    [t.html('bot:group.private')],
    [[{ label: t('bot:button.openPrivate'), url: link }]],
  )
}

/** The sign before a refusal. */
export const WARNING = '⚠️'

/**
 * What is said when an update was given up after several tries.
 *
 * @param reference what a log knows it by
 * @param retry data of the button that was pressed
 */
export function apology({ t }: Reader, reference: number, retry: string | undefined): View {
  const lines = [`${WARNING} ${t.html('bot:error.internal', { reference: id(reference) })}`]
  const again = retry === undefined ? [] : [[{ label: t('bot:button.retry'), data: retry }]]
  return screen(lines, again)
}
