/**
 * Inline queries: typing the bot's name in any chat finds the status of a provider or the price of a feed,
 * which the person can post in that chat.
 */

import type { Middleware } from 'grammy'
import type { InlineQueryResult } from 'grammy/types'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { type Locale, localeOfTag } from '#src/kernel/locale.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import type { Address } from '#src/kernel/units.ts'
import { listFeeds, resolveTarget } from '#src/operations/chat/previews.ts'
import type { App, OperationWith } from '#src/operations/define.ts'
import { invoke, type RawInput } from '#src/operations/gate/invoke.ts'
import { searchProviders } from '#src/operations/pages/look-ups.ts'
import { getProviderFsp } from '#src/operations/rest/providers.ts'
import { listWatches } from '#src/operations/rest/watches.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { describe, isRefused } from '#src/telegram/errors.ts'
import type { BotContext } from '../../core/context.ts'
import { keyboard } from '../../core/show.ts'
import { findChat } from '../../core/store.ts'
import { feedKey } from '../../core/typed-input.ts'
import type { Reader } from '../../views/view.ts'
import { propertyOf } from '../../views/watch-facts.ts'
import { feedResult, INLINE_ROUNDS, type InlineResult, providerResult } from './view.ts'

const PROVIDERS_MAX = 6
const FEEDS_MAX = 4
/** Time in seconds for which Telegram caches an answer. */
const CACHE_SECONDS = 30
/**
 * Time in seconds for which Telegram caches the offer to connect; short, so that a person who has connected finds
 * something soon.
 */
const CONNECT_CACHE_SECONDS = 1

/** Answers inline queries. All other updates are passed on. */
export function inlineQueries(app: App): Middleware<BotContext> {
  return async (ctx, next) => {
    const { inlineQuery } = ctx
    if (inlineQuery === undefined) return next()
    const { from, query } = inlineQuery
    const links = await listChatLinks(app, from.id)
    const locale =
      (await findChat(app.db, from.id))?.locale ?? localeOfTag(from.language_code) ?? 'en'
    const bot = ctx.me.username
    const reader: Reader = { t: translator(locale), timezone: 'UTC', isGroup: true, bot }
    const [link] = links
    try {
      if (link === undefined) return await offerConnection(ctx, reader)
      const { wallet } = link
      const caller: Caller = {
        wallet,
        scopes: ['read'],
        via: 'telegram',
        telegramUserId: from.id,
      }
      const results = await find(app, caller, reader, query.trim())
      await ctx.answerInlineQuery(
        results.map((result) => toArticle(result, locale)),
        {
          cache_time: CACHE_SECONDS,
          is_personal: true,
        },
      )
    } catch (error) {
      // Telegram refuses expired queries with 400: the person continued typing, and a newer query replaced this one. Other
      // errors with 400 are not told apart.
      const isLate = isRefused(error, 400)
      const fields = { updateId: ctx.update.update_id, error: describe(error) }
      app.log[isLate ? 'debug' : 'warn'](fields, 'inline query could not be answered')
    }
  }
}

async function offerConnection(ctx: BotContext, { t }: Reader): Promise<void> {
  await ctx.answerInlineQuery([], {
    cache_time: CONNECT_CACHE_SECONDS,
    is_personal: true,
    button: { text: t('bot:button.connect'), start_parameter: 'connect' },
  })
}

async function find(
  app: App,
  caller: Caller,
  reader: Reader,
  query: string,
): Promise<readonly InlineResult[]> {
  const call = async <Output>(operation: OperationWith<Output>, input: RawInput = {}) =>
    (await invoke(app, operation, caller, input)).output
  const address = readAddress(query)
  const [providers, feeds] = await Promise.all([
    query === ''
      ? watchedProviders(call)
      : address.ok
        ? [address.value]
        : findProvidersByName(call, query),
    query === '' || address.ok ? [] : feedsNamed(call, query),
  ])
  const now = app.clock.now()
  return [
    ...(await Promise.all(
      providers.slice(0, PROVIDERS_MAX).map(async (provider) => {
        const rounds = String(INLINE_ROUNDS)
        const view = await call(getProviderFsp, { query: { provider, rounds } })
        const { data } = await call(searchProviders, { query: { text: view.provider } })
        return providerResult(reader, { view, name: data[0]?.name }, now)
      }),
    )),
    ...(
      await Promise.all(
        feeds.slice(0, FEEDS_MAX).map(async (feed) => {
          const body = { type: 'feed-move', target: { feed } }
          const { observation } = await call(resolveTarget, { body })
          return feedResult(reader, feed, observation, now)
        }),
      )
    ).filter((inlineResult) => inlineResult !== undefined),
  ]
}

type Call = <Output>(operation: OperationWith<Output>, input?: RawInput) => Promise<Output>

/** Providers that the wallet's first 250 watches are about, each once; the watches themselves stay private. */
async function watchedProviders(call: Call): Promise<readonly Address[]> {
  const { data } = await call(listWatches, { query: { limit: '250' } })
  const watched = data.flatMap(({ target }) => {
    const parsed = readAddress(String(propertyOf(target, 'provider') ?? ''))
    return parsed.ok ? [parsed.value] : []
  })
  return [...new Set(watched)]
}

/** Providers whose public name contains the text. */
async function findProvidersByName(call: Call, text: string): Promise<readonly Address[]> {
  const { data } = await call(searchProviders, { query: { text: cutText(text, 200) } })
  return data.map(({ provider }) => provider)
}

/** Feeds whose name begins with the text, then those that contain it. */
async function feedsNamed(call: Call, text: string): Promise<readonly string[]> {
  const wanted = feedKey(text)
  if (wanted === '') return []
  const { data } = await call(listFeeds)
  const startingWith = data.filter((name) => feedKey(name).startsWith(wanted))
  const containing = data.filter((name) => feedKey(name).includes(wanted))
  return [...new Set([...startingWith, ...containing])]
}

function toArticle(
  { id, title, description, html, button }: InlineResult,
  locale: Locale,
): InlineQueryResult {
  return {
    type: 'article',
    id,
    title,
    description,
    input_message_content: {
      message_text: html,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    },
    ...(button !== undefined && { reply_markup: keyboard([[button]], locale) }),
  }
}
