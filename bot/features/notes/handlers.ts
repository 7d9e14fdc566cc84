import { Composer } from 'grammy'
import { typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { NOTE_LENGTH_MAX } from '#src/kernel/label.ts'
import { cleanOutsideText, countGraphemes } from '#src/kernel/outside-text.ts'
import { annotateMessage } from '#src/operations/chat/alerts.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature } from '../../core/feature.ts'
import { firstLink } from '../../core/first-link.ts'
import { acknowledging, mayAcknowledge } from '../../core/middleware/identify.ts'
import { ask, isSentMessage } from '../../core/show.ts'
import { actorName } from '../alerts/action-handlers.ts'

const composer = new Composer<BotContext>()

/**
 * A reply to the message of an alert becomes its note, which every message about the alert then shows. In a group, where
 * people also talk below an alert, only the person who acknowledged it writes notes; other replies get no answer.
 */
composer.on('message:text', async (ctx, next) => {
  const { message, me, reader, t } = ctx
  const answered = message.reply_to_message
  const isToBot = answered?.from?.id === me.id && !message.text.startsWith('/')
  if (answered === undefined || !isToBot) return next()
  if (!(await isSentMessage(ctx, answered.message_id))) return next()
  const note = cleanOutsideText(message.text, NOTE_LENGTH_MAX + 1)
  const isLong = countGraphemes(note) > NOTE_LENGTH_MAX
  if (note === '' || isLong || !(await writeNote(ctx, answered.message_id, note))) {
    if (reader.isGroup) return
    const key = isLong ? 'bot:note.tooLong' : 'bot:note.none'
    await ask(ctx, { html: t.html(key, { max: NOTE_LENGTH_MAX }), rows: [] })
    return
  }
  // The message of the alert, which everybody in a group sees, shows the note.
  if (!reader.isGroup) {
    await ask(ctx, { html: t.html('bot:note.saved', { note: typed(note) }), rows: [] })
  }
})

/** @returns false for a message without alerts of a wallet of the chat, and for a person who may not write there */
async function writeNote(ctx: BotContext, messageId: number, note: string): Promise<boolean> {
  const ofTakerOnly = ctx.reader.isGroup
  if (ofTakerOnly && ctx.isAnonymous) return false
  const body = { messageId: String(messageId), note, by: actorName(ctx), ofTakerOnly }
  const links = ctx.links.filter(mayAcknowledge)
  try {
    return await firstLink(
      ctx,
      (link) =>
        ctx.call(
          annotateMessage,
          { body: { ...body, recipientId: link.recipientId } },
          acknowledging(link),
        ),
      links,
    )
  } catch (error) {
    if (error instanceof AppError && (error.kind === 'not_found' || error.kind === 'forbidden'))
      return false
    throw error
  }
}

export const notesFeature = defineFeature({ commands: [], composer })
