import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebhookPayload } from '#src/channels/hooks/webhook.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { getOpenApi } from '#src/operations/rest/discovery.ts'
import type { PricingDocument } from '../generated/api.ts'
import { serviceOnly } from '../support/harness.ts'
import { request } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly({
    METERED_UPSTREAMS: JSON.stringify({ 'providers-rewards': 'http://127.0.0.1:1' }),
  })
})
afterAll(() => service.close())

describe('GET /pricing', () => {
  test('returns the published numbers without sign-in', async () => {
    const { status, body } = await request<PricingDocument>(service, 'GET', '/pricing')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      docs: '/docs',
      enabled: true,
      network: 'flare',
      chainId: 14,
      usdPer1000CreditsMicros: '1000000',
      minTopupCredits: 10000,
      freeTierDailyCalls: 50,
      watchdog: {
        model: 'slots',
        slotPriceCreditsPer30d: 500,
        maxSlotsPerWallet: 20,
        durationDiscounts: [
          { minPeriods: 12, discountBps: 2000 },
          { minPeriods: 6, discountBps: 1000 },
        ],
        volumeDiscounts: [
          { minQuantity: 10, discountBps: 1000 },
          { minQuantity: 5, discountBps: 500 },
        ],
        uiDurations: [1, 6, 12],
      },
    })
    expect(
      body.assets.map(({ symbol, decimals, bonusBps }) => [symbol, decimals, bonusBps]),
    ).toEqual([
      ['WDG', 18, 1000],
      ['WFLR', 18, 0],
      ['FXRP', 6, 0],
    ])
  })

  test('has every metered resource with its price and path', async () => {
    const { body } = await request<PricingDocument>(service, 'GET', '/pricing')
    expect(body.resources).toMatchObject([
      { resource: 'rewards-intelligence-reports', url: null, priceCredits: 10 },
      {
        resource: 'providers-rewards',
        url: `${service.app.publicUrl}/data/providers-rewards`,
        priceCredits: 2,
        description: 'Rewards of data providers, by provider and epoch.',
      },
      { resource: 'ftso-analytics', url: null, priceCredits: 1 },
    ])
  })

  test('describes every signal with its texts, groups and events', async () => {
    const { body } = await request(service, 'GET', '/pricing')
    const [signal] = body.watchdog.signalDefinitions['wallet-balance']
    expect(signal).toMatchObject({
      id: 'balance-change',
      group: { id: 'alerts', def: 'General' },
      label: { key: 'signals:wallet-balance.balance-change.label', def: 'Balance change' },
      events: { alerts: ['wallet-balance.moved'] },
      defaultEnabled: true,
    })
    expect(signal.events).not.toHaveProperty('recovery')
    for (const part of ['checked', 'why', 'causes', 'action']) {
      expect(signal.help[part].def.length).toBeGreaterThan(20)
    }
  })

  test('responds with 304 while nothing has changed', async () => {
    const first = await request(service, 'GET', '/pricing')
    const again = await request(service, 'GET', '/pricing', undefined, {
      'if-none-match': String(first.headers.etag),
    })
    expect(again.status).toBe(304)
  })
})

describe('GET /openapi.json', () => {
  test('describes exactly the operations of the registry', async () => {
    const { body } = await request(service, 'GET', '/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    const described = Object.entries<Record<string, { operationId: string }>>(body.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(
          ([method, operation]) => `${method.toUpperCase()} ${path} ${operation.operationId}`,
        ),
    )
    const routed = REGISTRY.map(({ method, path, id }) => `${method} ${path} ${id}`)
    expect(described.toSorted()).toEqual(routed.toSorted())
  })

  test('refers to existing schemas only', async () => {
    const { body } = await request(service, 'GET', '/openapi.json')
    const { schemas } = body.components
    const names = new Set(
      [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
        ([, name]) => name,
      ),
    )
    expect([...names].toSorted()).toEqual(Object.keys(schemas).toSorted())
    expect(JSON.stringify(body)).not.toContain('$defs')
  })

  test('publishes the webhook of an alert: body, headers and the rule for unknown properties', async () => {
    const { body } = await request(service, 'GET', '/openapi.json')
    expect(body.webhooks).toEqual({ alert: { $ref: '#/components/pathItems/AlertWebhook' } })
    const { post } = body.components.pathItems.AlertWebhook
    const media = post.requestBody.content['application/json']
    expect(media.schema).toEqual({
      allOf: [
        { $ref: '#/components/schemas/WebhookPayload' },
        { $ref: '#/components/schemas/WebhookEvent' },
      ],
    })
    const { properties, required } = body.components.schemas.WebhookPayload
    const names = Object.keys(properties)
    expect(names).toHaveLength(14)
    expect(required).toEqual(names)
    const nullable = names.filter((name) => [properties[name].type].flat().includes('null'))
    expect(nullable).toEqual(['signal', 'group', 'alertId', 'watchId', 'label', 'type'])
    expect(properties.payloadVersion.const).toBe(2)
    for (const name of names) expect(properties[name].description).toMatch(/\.$/)
    for (const open of ['data', 'renderedMessage']) {
      expect(properties[open].additionalProperties).not.toBe(false)
      expect(properties[open].description).toContain('Accept unknown properties.')
    }
    expect(post.description).toContain('Receivers must accept unknown properties')
    expect(WebhookPayload.safeParse(media.example).error).toBeUndefined()
    const header = (name: string) =>
      post.parameters.find((parameter: { name: string }) => parameter.name === name)
    expect(header('X-Watchdog-Signature')).toMatchObject({ in: 'header', required: true })
    expect(header('X-Watchdog-Signature-Next')).toMatchObject({ required: false })
    expect(header('webhook-signature')).toMatchObject({ required: true })
  })

  test('lists 304 for cacheable responses, and 404 for objects that a request body names', async () => {
    const { body } = await request(service, 'GET', '/openapi.json')
    const answers = (path: string, method: string) =>
      Object.keys(body.paths[path][method].responses)
    for (const path of ['/pricing', '/openapi.json', '/watches/{id}', '/settings']) {
      expect(answers(path, 'get')).toContain('304')
    }
    expect(answers('/watches', 'get')).not.toContain('304')
    expect(answers('/watches/{id}', 'patch')).not.toContain('304')
    expect(answers('/message-preview', 'post')).toContain('404')
    expect(answers('/subscriptions', 'patch')).toContain('404')
    expect(answers('/stats', 'get')).toContain('406')
  })

  test('lists scope, idempotency key and problems where they apply', async () => {
    const { body } = await request(service, 'GET', '/openapi.json')
    const create = body.paths['/watches'].post
    expect(create['x-scope']).toBe('write')
    expect(create.parameters).toContainEqual(expect.objectContaining({ name: 'Idempotency-Key' }))
    expect(create.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/WatchRequest',
    })
    expect(create.responses[409]).toEqual({ $ref: '#/components/responses/Problem409' })
    const conflict = body.components.responses.Problem409.content['application/problem+json']
    expect(conflict.schema).toEqual({ $ref: '#/components/schemas/Problem' })
    expect(body.paths['/pricing'].get.security).toEqual([])
  })

  test.each(LOCALES)('is described in %s', async (locale) => {
    const { status, body } = await request(service, 'GET', `/openapi.json?locale=${locale}`)
    expect(status).toBe(200)
    const english = await request(service, 'GET', '/openapi.json?locale=en')
    const summary = (document: never) => document['paths']['/watches']['get']['summary']
    if (locale === 'en') expect(summary(body as never)).toBe('List watches')
    else expect(summary(body as never)).not.toBe(summary(english.body as never))
  })

  test.each(LOCALES)('describes its fields in %s', async (locale) => {
    const { body } = await request(service, 'GET', `/openapi.json?locale=${locale}`)
    const english = await request(service, 'GET', '/openapi.json?locale=en')
    const [own, source] = [descriptionsIn(body), descriptionsIn(english.body)]
    expect(own.length).toBe(source.length)
    expect(own.length).toBeGreaterThan(100)
    expect(own.filter((text) => text.startsWith('operations:'))).toEqual([])
    if (locale === 'en') return
    expect(own.filter((text, index) => text === source[index])).toEqual([])
  })

  test('is built once per language, and has the same ETag while it is unchanged', async () => {
    const tagIn = async (locale: string) =>
      String((await request(service, 'GET', `/openapi.json?locale=${locale}`)).headers.etag)
    const tags = await Promise.all(LOCALES.map(tagIn))
    expect(new Set(tags).size).toBe(LOCALES.length)
    expect(await tagIn('de')).toBe(tags[LOCALES.indexOf('de')])
    const input = { app: service.app, caller: undefined, params: undefined, body: undefined }
    const asked = { ...input, query: { locale: 'de' }, locale: 'en', ifMatch: undefined } as const
    const ask = () => getOpenApi.handle(asked, undefined)
    expect(await ask()).toBe(await ask())
    const again = await request(service, 'GET', '/openapi.json?locale=de', undefined, {
      'if-none-match': await tagIn('de'),
    })
    expect(again).toMatchObject({ status: 304, text: '' })
  })

  test('refuses an unknown locale', async () => {
    expect(await request(service, 'GET', '/openapi.json?locale=xx')).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/locale', code: 'choice' }] },
    })
  })
})

/** Every explanation of a document, in order; examples are data. */
function descriptionsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const parts = Object.entries(value).filter(([name]) => name !== 'example')
  return parts.flatMap(([name, value]) =>
    name === 'description' && typeof value === 'string' ? [value] : descriptionsIn(value),
  )
}
